"""``numactl``: the NUMA nodes; and programs that are to stay on one, which are simply run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.system import machine

_WITH_VALUE = (
    "-i", "--interleave", "-p", "--preferred", "-m", "--membind", "-C", "--physcpubind", "-N",
    "--cpunodebind", "-c",
)  # fmt: skip
_FREE_SHARE = 0.86
_DISTANCES = ((10, 21), (21, 10))


@command("numactl", latency_us=10_000)
def main(
    argv: Sequence[str], become: Callable[[Sequence[str]], NoReturn], out: TextIO, err: TextIO
) -> int:
    """Show them, or become the program."""
    words = list(argv)
    while words and words[0].startswith("-"):
        word = words.pop(0)
        name = word.partition("=")[0]
        if word in ("-H", "--hardware"):
            out.write(_hardware())
            return 0
        if word in ("-s", "--show"):
            out.write(_policy())
            return 0
        if word == "--":
            break
        if name in _WITH_VALUE:
            if "=" not in word and words:
                words.pop(0)
        elif word not in ("-a", "--all", "-l", "--localalloc", "-b", "--balancing"):
            err.write(f"numactl: {word}: this option is not known here\n")
            return NOT_UNDERSTOOD
    if words:
        become(words)
    err.write("usage: numactl [--all | -a] [--membind= | -m <nodes>] [--hardware | -H] command\n")
    return 1


def _hardware() -> str:
    count = machine.NUMA_NODES
    lines = [f"available: {count} nodes (0-{count - 1})"]
    for node in range(count):
        cpus = " ".join(str(cpu) for part in machine.cpus_of(node) for cpu in part)
        size_mb = machine.memory_kib_of(node) // 1024
        lines += [
            f"node {node} cpus: {cpus}",
            f"node {node} size: {size_mb} MB",
            f"node {node} free: {round(size_mb * _FREE_SHARE)} MB",
        ]
    lines += ["node distances:", "node " + "".join(f"{node:>4}" for node in range(count)) + " "]
    for node, row in enumerate(_DISTANCES):
        lines.append(f"{node:>4}: " + "".join(f"{distance:>4}" for distance in row) + " ")
    return "".join(f"{line}\n" for line in lines)


def _policy() -> str:
    cpus = " ".join(str(cpu) for cpu in range(machine.CPUS))
    nodes = " ".join(str(node) for node in range(machine.NUMA_NODES))
    return (
        f"policy: default\npreferred node: current\nphyscpubind: {cpus} \ncpubind: {nodes} \n"
        f"nodebind: {nodes} \nmembind: {nodes} \n"
    )
