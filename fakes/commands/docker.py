"""``docker``, ``nerdctl``, ``crictl``: containers of a node, in the forms that checks use.

A container that is run sees the GPUs that the node has, so its command runs on the node; the
containers that run already are those of jobs.
"""

from __future__ import annotations

import json
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
    err.write(f"{program} {verb}: this is not known here\n")
    return NOT_UNDERSTOOD


@command("crictl", latency_us=100_000)
def crictl(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """``ps``, ``inspect``, ``rm``, ``stop``, ``info``."""
    words = [word for word in argv if not word.startswith(("-r", "--runtime-endpoint", "unix:"))]
    verb = words.pop(0) if words else ""
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
    err.write(f"crictl {verb}: this is not known here\n")
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
