"""The sandbox's own small C programs: those that came with the package, or compiled on first use.

One of them is a library, which is preloaded where programs live by a run's clock.

Imports nothing but the compiler's name, so that a wheel can be made with it (hatch_build.py).
"""

from __future__ import annotations

import hashlib
import platform
import subprocess
import tempfile
from pathlib import Path

from fakes.nvml.shim.build import CompileError, cache_directory, compiler

NAMES = ("lookalike", "rank", "clock")

_HERE = Path(__file__).resolve().parent
_FLAGS = ("-std=gnu11", "-Os", "-s", "-Wall", "-Wextra")
_STATIC = "-static"
"""Starts in half the time, and in any root directory; some machines have no static C library."""
_LIBRARIES = ("clock",)
_SHARED = ("-shared", "-fPIC", "-fvisibility=hidden", "-ftls-model=initial-exec")


def compiled(name: str) -> Path:
    """The program made from ``NAME.c``; a LibraryError of the shim's says why there is none."""
    beside = _HERE / _file_name(name)
    return beside if beside.is_file() else build(name, cache_directory())


def build(name: str, into: Path) -> Path:
    """Compile a program into a directory, which may not exist yet, unless it is there; its path."""
    program = into / _file_name(name)
    if program.is_file():
        return program
    command = compiler()
    try:
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=into) as scratch:
            built = Path(scratch) / name
            words = [*command, *_FLAGS, "-o", str(built), str(_HERE / f"{name}.c")]
            if said := _compile(words, is_library=name in _LIBRARIES):
                raise CompileError(f"{command[0]} refused {name}.c: {said}")
            built.replace(program)
    except OSError as error:
        raise CompileError(
            f"{name}.c cannot be compiled into {into}: {error.strerror or error}; "
            "XDG_CACHE_HOME names another place"
        ) from error
    return program


def _file_name(name: str) -> str:
    """A name that is another if the source is: a program is never older than its source."""
    sources = b"".join(path.read_bytes() for path in sorted(_HERE.glob(f"{name}*.[ch]")))
    flags = (*_FLAGS, *(_SHARED if name in _LIBRARIES else ()))
    digest = hashlib.sha256(" ".join(flags).encode() + sources).hexdigest()[:16]
    return f"_{name}-{platform.machine()}-{digest}.bin"


def _compile(words: list[str], *, is_library: bool) -> str:
    """Compile a program, without other libraries if that can be; what the compiler says if not."""
    if is_library:
        return _run([*words, *_SHARED, "-ldl"])
    return _run([*words, _STATIC]) and _run(words)


def _run(command: list[str]) -> str:
    """Run a compiler; what it says if it fails."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else (done.stderr.strip() or "it failed").splitlines()[0]
