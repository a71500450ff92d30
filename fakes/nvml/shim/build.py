"""Compile the fake node's ``libnvidia-ml.so.1``, and find it when it is there.

A wheel brings the library compiled, beside these sources (``hatch_build.py``). Elsewhere it is
compiled on first use into the user's cache, under a name made from the sources, so that an edited
source is never answered by an old library. A built library carries that name too.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

NAME = "_fakenvml.so"
"""A wheel cannot hold links: the library has a name of its own, and gets NVML's at the node."""

_HERE = Path(__file__).resolve().parent
_SOURCES = ("fakenvml.c", "pack.c", "deliver.c", "page.c", "wire.c")
_INCLUDED = ("fakenvml.h", "page.h", "table.inc")
_FLAGS = (
    "-std=gnu11",
    "-O2",
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-pthread",
    "-Wall",
    "-Wextra",
    "-Wl,-soname,libnvidia-ml.so.1",
    # Clients may close the library and open it again; handles live as long as the process.
    "-Wl,-z,nodelete",
)
_MARK = "gputui-fakenvml-sources:"
_PROBE = '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n'
"""What every C compiler with a C library compiles."""
_TELLING = ("error:", "failed", "cannot")
"""Words of the first line that says why, after compilers' lines of where."""
_PATIENCE_S = 300
_REMEDY = "install one (Debian and Ubuntu: apt install gcc libc6-dev), or name it in CC"


class LibraryError(Exception):
    """The library is not there and cannot be made; the message says what to do."""


class NoCompilerError(LibraryError):
    """There is no C compiler, or none that compiles anything."""


class CompileError(LibraryError):
    """The C compiler refused the sources, or the library cannot be read or written."""


def compiler() -> list[str]:
    """The C compiler's command: ``$CC``, or the first of cc, gcc and clang on the path."""
    named = os.environ.get("CC", "").split()
    for command in [named] if named else [["cc"], ["gcc"], ["clang"]]:
        if shutil.which(command[0]):
            return command
    looked_for = f"{named[0]} (named in CC) was" if named else "cc, gcc and clang were"
    raise NoCompilerError(
        f"the fake NVML library needs a C compiler, and {looked_for} not found: {_REMEDY}"
    )


@cache
def digest() -> str:
    """A short name for the sources as they are."""
    hashed = hashlib.sha256(" ".join(_FLAGS).encode())
    for name in (*_SOURCES, *_INCLUDED):
        hashed.update((_HERE / name).read_bytes())
    return hashed.hexdigest()[:16]


def build(into: Path) -> Path:
    """Compile the library into the directory ``into``, which may not exist yet; its path."""
    command = compiler()
    target = into / NAME
    try:
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=into) as scratch:
            built = Path(scratch) / NAME
            _compile(command, built)
            built.replace(target)
    except OSError as error:
        raise CompileError(
            f"the fake NVML library cannot be written to {into}: {error.strerror or error}; "
            "XDG_CACHE_HOME names another place"
        ) from error
    return target


def _compile(command: list[str], target: Path) -> None:
    sources = [str(_HERE / name) for name in _SOURCES]
    named = [f'-DSOURCES="{_MARK}{digest()}"', "-o", str(target)]
    said = _run([*command, *_FLAGS, *named, *sources, "-ldl"])
    if not said and target.is_file():
        return
    probed = _run([*command, "-x", "c", "-", "-o", str(target.with_suffix(".probe"))])
    if probed or not target.with_suffix(".probe").is_file():
        raise NoCompilerError(
            f"the fake NVML library needs a C compiler, and {command[0]} compiles nothing "
            f"({probed or 'it writes no output'}): {_REMEDY}"
        )
    raise CompileError(f"{command[0]} refused the fake NVML library: {said or 'it wrote none'}")


def _run(command: list[str]) -> str:
    """Run a compiler, the probe on its standard input; what it says if it fails, on one line."""
    try:
        done = subprocess.run(
            command,
            input=_PROBE,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it took more than {_PATIENCE_S} s"
    except OSError as error:
        return error.strerror or str(error)
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    saying = (line for line in lines if any(word in line for word in _TELLING))
    telling = next(saying, lines[0] if lines else "")
    status = f"exit status {done.returncode}"
    return f"{status}: {telling}" if telling else status


def require() -> Path:
    """The library's path: the one beside the sources, or a compiled one from the cache."""
    beside = _HERE / NAME
    cached = cache_directory() / f"fakenvml-{platform.machine()}-{digest()}"
    try:
        if beside.is_file() and f"{_MARK}{digest()}".encode() in beside.read_bytes():
            return beside
        if (cached / NAME).is_file():
            return cached / NAME
    except OSError as error:
        raise CompileError(
            f"the fake NVML library cannot be read: {error.filename}: {error.strerror}; "
            "XDG_CACHE_HOME names another place"
        ) from error
    return build(cached)


def library() -> Path | None:
    """As :func:`require`, or None where there is no library and no way to make one."""
    try:
        return require()
    except LibraryError:
        return None


def cache_directory() -> Path:
    """Where what is compiled on first use is kept: ``gputui`` in the user's cache."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(named) if named else Path.home() / ".cache") / "gputui"
    except RuntimeError as error:
        raise CompileError(
            "the fake NVML library has no place to be kept, since this user has no home: "
            "XDG_CACHE_HOME names one"
        ) from error
