"""``chroot`` and ``nsenter``: on a node they lead to the node itself (coreutils, util-linux).

Containers of operators reach the host's commands by ``chroot /host`` and ``nsenter --target 1
--mount --``. A node's programs are there already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command

_TO_THE_NODE = frozenset({"/", "/host", "/host-root", "/rootfs", "/run/nvidia/driver", "/hostfs",
                          "/node", "/run/host", "/mnt/host"})  # fmt: skip
_NSENTER_FLAGS = frozenset("amuinpUCTZF") | {"r", "w", "e"}
_NSENTER_LONG = frozenset(
    {
        "--all", "--mount", "--uts", "--ipc", "--net", "--pid", "--user", "--cgroup", "--time",
        "--root", "--wd", "--no-fork", "--preserve-credentials", "--env", "--follow-context",
    }
)  # fmt: skip
_FAILED = 125


@command("chroot", latency_us=2_000)
def chroot(
    argv: Sequence[str], env: Mapping[str, str], become: Callable[[Sequence[str]], NoReturn],
    err: TextIO,
) -> int:  # fmt: skip
    """Become the command, where the new root is the node's own."""
    words = list(argv)
    while words and words[0].startswith("--"):
        name = words.pop(0).partition("=")[0]
        if name not in ("--userspec", "--groups", "--skip-chdir"):
            err.write(f"chroot: {name}: this option is not known here\n")
            return NOT_UNDERSTOOD
    if not words:
        err.write("chroot: missing operand\nTry 'chroot --help' for more information.\n")
        return _FAILED
    root = words.pop(0)
    if root.rstrip("/") not in {place.rstrip("/") for place in _TO_THE_NODE}:
        err.write(f"chroot: {root}: only the node's own root is known here\n")
        return NOT_UNDERSTOOD
    return become(words or [env.get("SHELL", "/bin/sh"), "-i"])


@command("nsenter", latency_us=2_000)
def nsenter(
    argv: Sequence[str], env: Mapping[str, str], become: Callable[[Sequence[str]], NoReturn],
    err: TextIO,
) -> int:  # fmt: skip
    """Become the command, where the namespaces are those of the node's first process."""
    words = list(argv)
    target = ""
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if name in ("--target", "-t"):
            target = value if equals else (words.pop(0) if words else "")
        elif name in ("--setuid", "-S", "--setgid", "-G"):
            if not equals:
                words = words[1:]
        elif word.startswith("-t") and word[2:].isdecimal():
            target = word[2:]
        elif name not in _NSENTER_LONG and not (
            not name.startswith("--") and set(name[1:]) <= _NSENTER_FLAGS
        ):
            err.write(f"nsenter: {word}: this option is not known here\n")
            return NOT_UNDERSTOOD
    if not target:
        err.write("nsenter: no target PID specified for --all\n")
        return 1
    if target != "1":
        err.write(f"nsenter: --target {target}: only the node's first process is known here\n")
        return NOT_UNDERSTOOD
    return become(words or [env.get("SHELL", "/bin/sh")])
