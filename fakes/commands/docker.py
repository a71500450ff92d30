"""``docker``, ``nerdctl``, ``crictl``: containers of a node, in the forms that checks use.

A container that is run sees the GPUs that the node has, so its command runs on the node; the
containers that run already are those of jobs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NoReturn, TextIO

from fakes.clock import SECOND_US
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.kubernetes.kinds import duration
from fakes.kubernetes.objects import hash_of
from fakes.node import Node
from fakes.world import World

_RUN_VALUES = frozenset(
    {
        "-e", "--env", "-v", "--volume", "--gpus", "--name", "--network", "--net", "--ulimit",
        "--shm-size", "--ipc", "--pid", "--device", "--runtime", "-w", "--workdir", "-u", "--user",
        "--entrypoint", "--cap-add", "--security-opt", "--mount", "-h", "--hostname", "--memory",
        "-m", "--cpus", "--env-file", "--add-host", "-p", "--publish", "--label", "-l", "--uts",
        "--pull", "--platform", "--restart", "--group-add", "--cgroupns", "--log-driver",
    }
)  # fmt: skip
_FIELDS = {".ID": 0, ".Names": 1, ".Image": 2, ".Status": 3}
_FIELD = re.compile(r"\{\{\s*(" + "|".join(map(re.escape, _FIELDS)) + r")\s*\}\}")
_TAKES_F = frozenset({"ps", "inspect", "info", "version"})
_IMAGE = "nvcr.io/nvidia/pytorch:24.05-py3"


@command("docker", "nerdctl", latency_us=400_000)
def docker(
    argv: Sequence[str], node: Node, world: World, program: str,
    become: Callable[[Sequence[str]], NoReturn], out: TextIO, err: TextIO,
) -> int:  # fmt: skip
    """``run``, ``ps``, ``inspect``, ``rm``, ``stop``, ``kill``, ``info``, ``images``."""
    words = list(argv)
    verb = words.pop(0) if words else ""
    if verb == "run":
        image, inner = _run(words)
        if not image:
            err.write(f'"{program} run" requires at least 1 argument.\n')
            return 1
        return become(inner) if inner else 0
    if _is_strange(verb, words):
        return _not_known(program, argv, err)
    if verb in ("ps", "container") and not {"rm", "inspect"} & set(words):
        _list(node, world, words, out)
        return 0
    if verb in ("rm", "stop", "kill", "inspect"):
        return _each(program, verb, words, node, world, out, err)
    if verb in ("version", "--version", "-v"):
        out.write("Docker version 27.3.1, build ce12230\n")
        return 0
    if verb == "info":
        out.write(" Runtimes: io.containerd.runc.v2 nvidia runc\n Default Runtime: runc\n")
        return 0
    if verb in ("pull", "images", "system", "image"):
        return 0
    return _not_known(program, argv, err)


@command("crictl", latency_us=100_000)
def crictl(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """``ps``, ``inspect``, ``rm``, ``stop``, ``info``."""
    words = [word for word in argv if not word.startswith(("-r", "--runtime-endpoint", "unix:"))]
    verb = words.pop(0) if words else ""
    if _is_strange(verb, words):
        return _not_known("crictl", argv, err)
    if verb == "ps":
        _list(node, world, words, out)
        return 0
    if verb in ("rm", "stop", "inspect", "rmp", "stopp"):
        return _each("crictl", verb, words, node, world, out, err)
    if verb in ("version", "--version"):
        out.write("crictl version v1.30.1\n")
        return 0
    if verb in ("info", "pods"):
        out.write("{}\n" if verb == "info" else "POD ID   CREATED   STATE   NAME   NAMESPACE\n")
        return 0
    return _not_known("crictl", argv, err)


def _is_strange(verb: str, words: Sequence[str]) -> bool:
    """Whether a form or a choice is asked for that is not known here.

    Only a list of containers may have a form, of the fields in ``_FIELDS``.
    """
    lists = verb == "ps" or (verb == "container" and words[:1] == ["ls"])
    for word in words:
        name = word.partition("=")[0]
        if name in ("--filter", "-o", "--output") or (name == "-f" and verb in _TAKES_F):
            return True
        if name == "--format":
            form = _form(words)
            return not lists or not _FIELD.search(form) or "{" in _FIELD.sub("", form)
    return False


def _form(words: Sequence[str]) -> str:
    """The value of ``--format``; "" without it."""
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == "--format":
            return value if equals else "".join(words[at + 1 : at + 2])
    return ""


def _filled(form: str, row: Sequence[str]) -> str:
    """A container's line in a form."""
    return _FIELD.sub(lambda field: row[_FIELDS[field[1]]], form).replace("\\t", "\t")


def _not_known(program: str, argv: Sequence[str], err: TextIO) -> int:
    err.write(f"{program} {' '.join(argv)}: this is not known here\n")
    return NOT_UNDERSTOOD


def _run(words: Sequence[str]) -> tuple[str, list[str]]:
    """The image, and what runs in it."""
    rest, entry = list(words), ""
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name in _RUN_VALUES and not equals:
            value = rest.pop(0) if rest else ""
        if name == "--entrypoint":
            entry = value
    image = rest.pop(0) if rest else ""
    return image, [entry, *rest] if entry else rest


def _containers(node: Node) -> Iterator[tuple[str, str, int]]:
    """Number, name and start of each job's container here."""
    began: Mapping[str, int] = {
        process.spec.job: process.started_us for process in reversed(node.processes.values())
    }
    for job, at_us in began.items():
        yield f"{hash_of(node.name + job):016x}"[:12], job, at_us


def _list(node: Node, world: World, words: Sequence[str], out: TextIO) -> None:
    found = list(_containers(node))
    if {"-q", "--quiet", "-aq", "-qa"} & set(words):
        out.writelines(f"{number}\n" for number, _, _ in found)
        return
    if form := _form(words):
        for number, name, at_us in found:
            up = f"Up {duration((world.now_us - at_us) // SECOND_US)}"
            out.write(_filled(form, (number, name, _IMAGE, up)) + "\n")
        return
    out.write("CONTAINER ID   IMAGE                              CREATED          STATUS   NAMES\n")
    for number, name, at_us in found:
        old = duration((world.now_us - at_us) // SECOND_US)
        out.write(f"{number:<15}{_IMAGE:<35}{old + ' ago':<17}{'Up':<9}{name}\n")


def _each(
    program: str, verb: str, words: Sequence[str], node: Node, world: World, out: TextIO,
    err: TextIO,
) -> int:  # fmt: skip
    known = list(_containers(node))
    status = 0
    for word in (word for word in words if not word.startswith("-") and word not in ("rm",)):
        found = next((one for one in known if word in one[:2] or one[0].startswith(word)), None)
        if found is None:
            status = 1
            err.write(
                f"Error response from daemon: No such container: {word}\n"
                if program != "crictl"
                else f"E rpc error: code = NotFound desc = an error occurred when try to find "
                f'container "{word}": not found\n'
            )
        elif verb == "inspect":
            out.write(json.dumps([{"Id": found[0], "Name": found[1]}], indent=4) + "\n")
        else:
            for pid, process in tuple(node.processes.items()):
                if process.spec.job == found[1]:
                    node.end_process(pid, world.now_us)
            out.write(f"{word}\n")
    return status
