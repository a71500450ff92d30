"""Which files of the machine a node has its own version of, wherever they lie.

The NVML library, and the commands that have a look-alike, are there under every path that the
machine has them at, and at the usual one also where the machine has none: by a layer over that
directory.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

LIBRARY_NAMES = ("libnvidia-ml.so.1", "libnvidia-ml.so")
PROGRAMS = (Path("/usr/bin"), Path("/usr/sbin"))
"""Where every look-alike is to be found: scripts call some by ``/sbin/reboot``."""

_ANY_LIBRARY = "libnvidia-ml.so*"
_LINKER_CACHE = Path("/etc/ld.so.cache")
_LIBRARY = re.compile(rb"/[^\0]*/libnvidia-ml\.so[^\0]*")
_LIBRARY_PLACES = (
    "lib", "lib64", "usr/lib", "usr/lib64", "usr/lib/*-linux-gnu", "usr/lib/wsl/lib",
    "usr/lib/*-linux-gnu/nvidia/current", "usr/local/lib", "usr/local/nvidia/lib",
    "usr/local/nvidia/lib64", "usr/local/cuda*/compat", "usr/local/cuda*/lib64",
    "opt/*/lib", "opt/*/lib64",
)  # fmt: skip
_PROGRAM_PLACES = (
    "bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin", "usr/local/sbin", "usr/local/*/bin",
    "usr/local/*/sbin", "usr/lib/nvidia/current", "usr/lib/wsl/lib", "opt/*", "opt/*/bin",
    "opt/*/sbin", "opt/*/*/bin", "snap/bin",
)  # fmt: skip


def program_directories() -> list[Path]:
    """Those of them that the machine has; on some the second is the first."""
    found = dict.fromkeys(Path(os.path.realpath(path)) for path in PROGRAMS if path.is_dir())
    return list(found)


def library_directory() -> Path | None:
    """Where a program of this machine's kind finds a library without being told."""
    for place in (f"/usr/lib/{platform.machine()}-linux-gnu", "/usr/lib64", "/usr/lib"):
        if Path(place).is_dir():
            return Path(os.path.realpath(place))
    return None


def machine_libraries(environ: Mapping[str, str]) -> list[Path]:
    """Every NVML library of the machine: in the usual places, the linker's cache and path."""
    found = [
        path for place in _LIBRARY_PLACES for path in Path("/").glob(f"{place}/libnvidia-ml.so*")
    ]
    if _LINKER_CACHE.is_file():
        found += [Path(os.fsdecode(path)) for path in _LIBRARY.findall(_LINKER_CACHE.read_bytes())]
    for folder in environ.get("LD_LIBRARY_PATH", "").split(":"):
        found += Path(folder or ".").glob(_ANY_LIBRARY)
    return list(_files(found))


def machine_programs(
    names: Iterable[str], environ: Mapping[str, str]
) -> Iterator[tuple[str, Path]]:
    """Every program of the machine that is known by one of these names: (the name, its file)."""
    places = [path for place in _PROGRAM_PLACES for path in Path("/").glob(place)]
    places += [Path(folder) for folder in environ.get("PATH", "").split(":") if folder]
    found: dict[str, list[Path]] = {name: [] for name in names}
    for place in dict.fromkeys(places):
        with contextlib.suppress(OSError):
            # Names are many: one look into a directory instead of one for each.
            for name in found.keys() & set(os.listdir(place)):  # noqa: PTH208
                found[name].append(place / name)
    for name, paths in found.items():
        for path in _files(paths):
            yield name, path


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files at the ends of ``paths`` that we may see, each once."""
    seen = set()
    for path in paths:
        real = Path(os.path.realpath(path))
        with contextlib.suppress(OSError):
            if real not in seen and stat.S_ISREG(real.stat().st_mode):
                seen.add(real)
                yield real
