"""The sandbox's own small C programs, compiled on first use and kept in the user's cache."""

from __future__ import annotations

import hashlib
import platform
import subprocess
import tempfile
from pathlib import Path

from fakes.nvml.shim.build import CompileError, cache_directory, compiler

_HERE = Path(__file__).resolve().parent
_FLAGS = ("-std=gnu11", "-Os", "-s", "-Wall", "-Wextra")
_STATIC = "-static"
"""Starts in half the time, and in any root directory; some machines have no static C library."""


def compiled(name: str) -> Path:
    """The program made from ``NAME.c``; a LibraryError of the shim's says why there is none."""
    source = _HERE / f"{name}.c"
    digest = hashlib.sha256(" ".join(_FLAGS).encode() + source.read_bytes()).hexdigest()[:16]
    program = cache_directory() / f"{name}-{platform.machine()}-{digest}"
    if program.is_file():
        return program
    command = compiler()
    try:
        program.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=program.parent) as scratch:
            built = Path(scratch) / name
            compile_ = [*command, *_FLAGS, "-o", str(built), str(source)]
            if _run([*compile_, _STATIC]) and (said := _run(compile_)):
                raise CompileError(f"{command[0]} refused {source.name}: {said}")
            built.replace(program)
    except OSError as error:
        raise CompileError(
            f"{source.name} cannot be compiled into {program.parent}: {error.strerror or error}; "
            "XDG_CACHE_HOME names another place"
        ) from error
    return program


def _run(command: list[str]) -> str:
    """Run a compiler; what it says if it fails."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else (done.stderr.strip() or "it failed").splitlines()[0]
