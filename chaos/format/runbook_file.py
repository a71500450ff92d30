"""Where the program of a runbook is: beside its scenario, or among this machine's programs.

A file beside the scenario comes first, also without a slash in its name.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from chaos.errors import quoted
from fakes.commands.registry import commands

PROGRAMS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are looked for at last."""

PLAYBOOKS = (".yml", ".yaml")
PLAYER = "ansible-playbook"
"""What runs files with these endings."""


def found_beside(word: str, folder: Path) -> str:
    """A runbook's program as it is started: the file beside the scenario, if there is one."""
    file = folder / word
    return str(file.resolve()) if file.is_file() else word


def what_is_wrong(words: tuple[str, ...], folder: Path) -> str:
    """A sentence on why a runbook of these words cannot be started; empty if it can.

    A program that is followed by a file is that file's interpreter.
    """
    program = words[0]
    file = folder / program
    if file.is_file():
        if program.endswith(PLAYBOOKS) or os.access(file, os.X_OK):
            return _missing(words[1:2], folder)
        return (
            f"run: {quoted(str(file))} is not executable: chmod +x it, or name its interpreter: "
            f"[bash, {program}]."
        )
    if "/" in program:
        return _unusable(file)
    if program in commands() or shutil.which(program, path=f"{os.environ.get('PATH')}:{PROGRAMS}"):
        return _missing(words[1:2], folder)
    if file.exists():
        return _unusable(file)
    return (
        f"run: there is no file {quoted(str(file))}, and no program {quoted(program)} on this "
        "machine's PATH."
    )


def _missing(words: tuple[str, ...], folder: Path) -> str:
    """What is wrong with the file that an interpreter is given, if its first word is one."""
    return next(
        (_unusable(folder / word) for word in words if "/" in word and not _is_there(folder, word)),
        "",
    )


def _is_there(folder: Path, word: str) -> bool:
    return word.startswith("-") or (folder / word).exists()


def _unusable(file: Path) -> str:
    if file.is_dir():
        return f"run: {quoted(str(file))} is a directory, not a program."
    return f"run: there is no file {quoted(str(file))}."
