"""What a program on a node sees in place of the machine's own files and environment.

The node's NVML library is found by every program, also under ``env -i`` or ``sudo``: it stands
first in the dynamic linker's cache, over every library of that name, and in ``LD_LIBRARY_PATH``.
The machine's GPU devices and its kernel log are hidden: opening them fails as where there are none.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

LIBRARY = "libnvidia-ml.so.1"
NODE_VARIABLE = "GPUTUI_FAKE_NODE"
KERNEL_LOG_VARIABLE = "GPUTUI_KERNEL_LOG"
RUN_VARIABLE = "GPUCHAOS_RUN"
"""Names the run to ``gpuchaos`` itself, for those who call it from inside."""

REAL_GPU = Path("/dev/nvidia0")
_LINKER_CACHE = Path("/etc/ld.so.cache")
_LINKER_CONFIG = Path("/etc/ld.so.conf")
_SYSTEM_LOGS = Path("/var/log")
_DRIVER_FILES = Path("/proc/driver/nvidia")
_LIBRARY_PLACES = (
    "usr/lib", "usr/lib64", "usr/lib/*-linux-gnu", "usr/lib/*-linux-gnu/nvidia/current",
    "usr/lib/wsl/lib", "usr/local/nvidia/lib", "usr/local/nvidia/lib64",
    "usr/local/cuda*/compat",
)  # fmt: skip


def kernel_log(directory: Path) -> Path:
    """A node's kernel log, as the machine sees it."""
    return directory / "log" / "kern.log"


def binds(directory: Path, library: Path | None) -> list[tuple[Path, Path]]:
    """What is to stand in the place of what: (a file or directory, the one that it covers).

    ``directory`` is the node's; the library must lie in it already if there is one.
    """
    found = []
    if library is not None:
        cache = _linker_cache(directory)
        if cache is not None:
            found.append((cache, _LINKER_CACHE))
        found += [(library, path) for path in _system_libraries()]
    hidden, empty = directory / "hidden", directory / "empty"
    with socket.socket(socket.AF_UNIX) as nobody:
        nobody.bind(str(hidden))
    empty.mkdir()
    for path in _hidden():
        found.append((empty if path.is_dir() else hidden, path))
    if _SYSTEM_LOGS.is_dir():
        found.append((kernel_log(directory).parent, _SYSTEM_LOGS))
    return found


def environment(
    base: Mapping[str, str], run: str, directory: Path, *, library: bool, contained: bool
) -> dict[str, str]:
    """The environment of a program on a node. ``contained``: by namespaces, as :func:`binds`."""
    own = dict(base)
    log = kernel_log(directory)
    own[KERNEL_LOG_VARIABLE] = str(_SYSTEM_LOGS / log.name if contained else log)
    own[RUN_VARIABLE] = run
    own[NODE_VARIABLE] = str(directory)
    if library:
        others = base.get("LD_LIBRARY_PATH", "")
        own["LD_LIBRARY_PATH"] = f"{directory}:{others}" if others else str(directory)
    return own


def _hidden() -> Iterator[Path]:
    yield from sorted(Path("/dev").glob("nvidia*"))
    for path in (Path("/dev/kmsg"), _DRIVER_FILES):
        if path.exists():
            yield path


def _system_libraries() -> Iterator[Path]:
    """Every NVML library of the machine, each file once."""
    seen = set()
    for place in _LIBRARY_PLACES:
        for path in Path("/").glob(f"{place}/libnvidia-ml.so*"):
            real = path.resolve()
            if real.is_file() and real not in seen:
                seen.add(real)
                yield real


def _linker_cache(directory: Path) -> Path | None:
    """A cache for the dynamic linker with the node's directory first; None if it cannot be made."""
    search = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    ldconfig = shutil.which("ldconfig", path=search)
    if ldconfig is None or not _LINKER_CACHE.exists():
        return None
    config, cache = directory / "ld.so.conf", directory / "ld.so.cache"
    system = f"include {_LINKER_CONFIG}\n" if _LINKER_CONFIG.exists() else ""
    config.write_text(f"{directory}\n{system}", encoding="utf-8")
    done = subprocess.run(
        [ldconfig, "-i", "-X", "-f", str(config), "-C", str(cache)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return cache if done.returncode == 0 and cache.is_file() else None
