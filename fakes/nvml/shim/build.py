"""Compile the fake node's ``libnvidia-ml.so.1``, and find it when it is there."""

from __future__ import annotations

import os
import shutil


class NoCompilerError(Exception):
    """There is no C compiler; the message says what was looked for."""


def compiler() -> list[str]:
    """The C compiler's command: ``$CC``, or the first of cc, gcc and clang on the path."""
    named = os.environ.get("CC", "").split()
    for command in ([named] if named else [["cc"], ["gcc"], ["clang"]]):
        if shutil.which(command[0]):
            return command
    raise NoCompilerError(
        f"no C compiler: {named[0] + ' (from CC)' if named else 'cc, gcc and clang'} not found. "
        "Install one (Debian, Ubuntu: apt install gcc), or name it in CC."
    )
