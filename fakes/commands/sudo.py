"""``sudo`` and ``su``: run a command as somebody else (sudo(8), su(1)).

Programs on a node are root already, as far as it matters, and set-user-ID has no effect there:
where the node has its own users (a run by root), the caller changes to the other's numbers and is
that user; else the command is run as it is, with the other's names in its environment. Somebody
whose jobs run on the node may not: no password can be given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_FLAGS = frozenset("AbEeHiKklnPSsVv")
_WITH_VALUE = frozenset("CDghpRrtTUu")
_LONG_FLAGS = {
    "--non-interactive": "n", "--preserve-env": "E", "--set-home": "H", "--stdin": "S",
    "--login": "i", "--shell": "s", "--list": "l", "--validate": "v", "--reset-timestamp": "k",
    "--remove-timestamp": "K", "--background": "b", "--askpass": "A", "--version": "V",
}  # fmt: skip
_LONG_VALUES = {"--user": "u", "--group": "g", "--chdir": "D", "--host": "h", "--prompt": "p",
                "--chroot": "R", "--other-user": "U", "--close-from": "C"}  # fmt: skip
_USAGE = (
    "usage: sudo -h | -K | -k | -V\n"
    "usage: sudo -v [-ABkNnS] [-g group] [-h host] [-p prompt] [-u user]\n"
    "usage: sudo -l [-ABkNnS] [-g group] [-h host] [-p prompt] [-U user] [-u user] [command "
    "[arg ...]]\n"
    "usage: sudo [-ABbEHkNnPS] [-C num] [-D directory] [-g group] [-h host] [-p prompt] "
    "[-R directory] [-T timeout] [-u user] [VAR=value] [-i | -s] [command [arg ...]]\n"
)
_ALLOWED = (
    "Matching Defaults entries for {user} on {host}:\n"
    "    env_reset, mail_badpass, secure_path=/usr/local/sbin\\:/usr/local/bin\\:/usr/sbin\\:"
    "/usr/bin\\:/sbin\\:/bin\n\n"
    "User {user} may run the following commands on {host}:\n"
    "    (ALL : ALL) NOPASSWD: ALL\n"
)


@command("sudo", latency_us=10_000)
def main(
    argv: Sequence[str], node: Node, user: str, is_privileged: bool, env: Mapping[str, str],
    read_file: Callable[[str], str], change_user: Callable[[int, int], None],
    become: Callable[[Sequence[str]], NoReturn], out: TextIO, err: TextIO,
) -> int:  # fmt: skip
    """Become the command."""
    options, words, strange = _parse(argv)
    if strange:
        err.write(f"sudo: {strange}: this option is not known here\n")
        return NOT_UNDERSTOOD
    if "V" in options:
        out.write("Sudo version 1.9.15p5\n")
        return 0
    target = options.get("u", "root")
    person = _person(target, node, read_file)
    if person is None:
        err.write(f"sudo: unknown user {target}\n")
        err.write("sudo: error initializing audit plugin sudoers_audit\n")
        return 1
    if not is_privileged:
        if "n" in options:
            err.write("sudo: a password is required\n")
        else:
            err.write(
                "sudo: a terminal is required to read the password; either use the -S option to "
                "read from standard input or configure an askpass helper\n"
                "sudo: a password is required\n"
            )
        return 1
    assigned = []
    while words and _ASSIGNMENT.match(words[0]):
        assigned.append(words.pop(0))
    if "l" in options:
        if not words:
            out.write(_ALLOWED.format(user=user, host=node.name))
        else:
            out.write(" ".join(words) + "\n")
        return 0
    shell = bool({"i", "s"} & options.keys())
    if not words:
        if {"K", "k", "v"} & options.keys():
            return 0
        if not shell:
            err.write(_USAGE)
            return 1
        words = [_shell(env)]
    elif shell:
        words = [_shell(env), "-c", " ".join(words)]
    if "u" in options:
        assigned = [*person.variables, *assigned]
    assigned += [f"SUDO_USER={user}"] if user != "root" else []
    person.take_over(change_user)
    return become(["/usr/bin/env", *assigned, *words] if assigned else words)


@command("su", latency_us=10_000)
def su(
    argv: Sequence[str], node: Node, is_privileged: bool, env: Mapping[str, str],
    read_file: Callable[[str], str], change_user: Callable[[int, int], None],
    become: Callable[[Sequence[str]], NoReturn], err: TextIO,
) -> int:  # fmt: skip
    """Become a shell of somebody's, or what it is to run."""
    rest, command_line, shell, names = list(argv), None, _shell(env), []
    while rest:
        word = rest.pop(0)
        if word in ("-c", "--command") and rest:
            command_line = rest.pop(0)
        elif word.startswith("--command="):
            command_line = word.partition("=")[2]
        elif word in ("-s", "--shell") and rest:
            shell = rest.pop(0)
        elif word in ("-", "-l", "--login", "-m", "-p", "--preserve-environment", "-P", "--pty"):
            continue
        elif word.startswith("-"):
            err.write(f"su: {word}: this option is not known here\n")
            return NOT_UNDERSTOOD
        else:
            names.append(word)
    target = names[0] if names else "root"
    person = _person(target, node, read_file)
    if person is None or target.startswith("#"):
        err.write(
            f"su: user {target} does not exist or the user entry does not contain all the "
            "required fields\n"
        )
        return 1
    if not is_privileged:
        err.write("su: Authentication failure\n")
        return 1
    words = [shell, *(["-c", command_line] if command_line is not None else []), *names[1:]]
    person.take_over(change_user)
    return become(["/usr/bin/env", *person.variables, *words])


def _parse(argv: Sequence[str]) -> tuple[dict[str, str], list[str], str]:
    """The options by letter, the rest, and the first option that is not known here."""
    options: dict[str, str] = {}
    words = list(argv)
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if name in _LONG_FLAGS:
            options[_LONG_FLAGS[name]] = value
            continue
        if name in _LONG_VALUES:
            options[_LONG_VALUES[name]] = value if equals else (words.pop(0) if words else "")
            continue
        letters = word[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in _WITH_VALUE and not (letter == "h" and not letters and not words):
                options[letter] = letters or (words.pop(0) if words else "")
                break
            if letter not in _FLAGS:
                return options, words, word
            options[letter] = ""
    return options, words, ""


@dataclass(frozen=True, slots=True)
class _Person:
    """Somebody who a command can be run as; ``ids`` are the user's and the group's number, None
    where nobody tells them.
    """

    name: str
    home: str
    ids: tuple[int, int] | None = None

    @property
    def variables(self) -> list[str]:
        """The names in the environment of what is theirs."""
        return [f"USER={self.name}", f"LOGNAME={self.name}", f"HOME={self.home}"]

    def take_over(self, change_user: Callable[[int, int], None]) -> None:
        """Let the caller be this one."""
        if self.ids is not None and self.ids != (0, 0):
            change_user(*self.ids)


def _person(name: str, node: Node, read_file: Callable[[str], str]) -> _Person | None:
    """Somebody by a name, or by ``#`` and a number (passwd(5)); None if there is nobody."""
    try:
        rows = [row.split(":") for row in read_file("/etc/passwd").splitlines()]
    except OSError:
        rows = []  # nobody to ask
    at, wanted = (2, name[1:]) if name.startswith("#") else (0, name)
    for row in rows:
        if len(row) == 7 and row[at] == wanted and row[2].isdecimal() and row[3].isdecimal():
            return _Person(row[0], row[5], (int(row[2]), int(row[3])))
    if name == "root" or not rows:
        return _Person(name, "/root" if name == "root" else f"/home/{name}")
    owners = {job.user for job in node.jobs.values()}
    return _Person(name, f"/home/{name}") if name in owners else None


def _shell(env: Mapping[str, str]) -> str:
    return env.get("SHELL", "/bin/sh")
