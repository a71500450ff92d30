"""What a program on a node sees in place of the machine's own files and environment.

The node's directory stands at ``/run/gputui-node``, a fixed place, for programs whose environment
was wiped. Its NVML library is found by every program: under the usual path, over every library of
that name, and first in ``LD_LIBRARY_PATH``.
"""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chaos.sandbox import people, virtual_time
from chaos.sandbox.brought import brought, lies_in
from chaos.sandbox.covers import (
    LIBRARY_NAMES,
    library_directory,
    machine_libraries,
    machine_programs,
    program_directories,
)
from chaos.sandbox.edited import ETC, HOME, home_of, homes
from chaos.sandbox.hiding import fresh_places, hidden_paths, sockets_in_use
from chaos.sandbox.own_files import (
    device_names,
    edited_files,
    fresh_folders,
    layered,
    make_logs,
    memory,
    mounted,
    places,
)
from chaos.sandbox.plan import NODE, Bind, Graft, Layer, Root
from chaos.sandbox.rank import JOB_LOGS

NODE_VARIABLE = "GPUTUI_FAKE_NODE"
KERNEL_LOG_VARIABLE = "GPUTUI_KERNEL_LOG"
JOB_LOG_VARIABLE = "GPUTUI_JOB_LOG"
INLET_VARIABLE = "GPUTUI_INLET"
LIMITS_VARIABLE = "GPUTUI_LIMITS"
STATE_VARIABLE = "XDG_STATE_HOME"
RUN_VARIABLE = "GPUCHAOS_RUN"
"""Names the run to ``gpuchaos`` itself, for those who call it from inside."""

REAL_GPU = Path("/dev/nvidia0")
_SYSTEM_LOGS = Path("/var/log")
_MACHINES_ETC = "/run/gputui-etc"
_OWN_FOLDERS = (
    "default", "modprobe.d", "modules-load.d", "profile.d", "security", "security/limits.d",
    "slurm", "sysctl.d",
)  # fmt: skip
"""Below /etc, where scripts and configuration tools write files of their own."""

_STATE = "state"
_TOUCHED = "touched"
"""The one file of the node's directory that NVML's clients write (fakes/nvml/page.py)."""


@dataclass(frozen=True, slots=True)
class Outfit:
    """What a node has of its own.

    ``run`` is the run's directory, ``directory`` the node's. ``library`` is the NVML library,
    ``look_alike`` the program that stands for every command in ``commands``; None where it could
    not be made. ``users`` are the users of its jobs, by their numbers. ``people`` are all
    who have a home. ``clock`` is the library by which programs live by the run's clock; None: they
    live by the machine's. ``gpus`` and ``switches`` are how many it has, for /dev.
    """

    run: Path
    directory: Path
    library: Path | None
    look_alike: Path | None
    commands: tuple[str, ...]
    users: Mapping[str, int]
    gpus: int
    people: tuple[str, ...] = ()
    clock: Path | None = None
    switches: int = 0


def kernel_log(directory: Path) -> Path:
    """A node's kernel log, as the machine sees it."""
    return directory / "log" / "kern.log"


def inlet(directory: Path) -> Path:
    """What a sensor at a node's air inlet tells, as the machine sees it."""
    return directory / "inlet"


def limits(directory: Path) -> Path:
    """What a process of a job may use on a node, as the machine sees it."""
    return directory / "limits"


def programs(directory: Path) -> Path:
    """Where a node's own programs lie, as the machine sees it."""
    return directory / "bin"


def equip(outfit: Outfit) -> None:
    """Fill a node's directory with what its programs will see, in whatever tier."""
    directory = outfit.directory
    directory.chmod(0o755)
    names = ("bin", "lib", "empty", "root")
    for folder in (*(directory / name for name in names), memory(directory)):
        folder.mkdir()
        folder.chmod(0o755)
    (directory / _STATE).mkdir(mode=0o700)
    make_logs(kernel_log(directory))
    for name in outfit.people:
        home_of(name, outfit.users.get(name, -1), outfit.run)
    with socket.socket(socket.AF_UNIX) as nobody:
        nobody.bind(str(directory / "nobody"))
    if outfit.clock is not None:
        virtual_time.equip(directory, outfit.clock)
    if outfit.library is not None:
        usual = library_directory()
        versions = usual.glob("libnvidia-ml.so*") if usual is not None else ()
        for name in {*LIBRARY_NAMES, *(path.name for path in versions)}:
            shutil.copyfile(outfit.library, directory / "lib" / name)
            (directory / "lib" / name).chmod(0o755)
    if outfit.look_alike is not None and outfit.commands:
        first, *others = (programs(directory) / name for name in outfit.commands)
        shutil.copyfile(outfit.look_alike, first)
        first.chmod(0o755)
        for other in others:
            other.hardlink_to(first)


def root(outfit: Outfit, environ: Mapping[str, str]) -> Root:
    """A node's root directory; :func:`equip` has filled the node's own."""
    directory = outfit.directory
    fresh = fresh_places(environ)
    empty = [place.path for place in fresh]
    shown = [(outfit.run, outfit.run), (directory, Path(NODE))]
    etc = people.files(outfit.users)
    if outfit.clock is not None:
        etc |= virtual_time.files()
    binds = [Bind(os.path.realpath(source), os.path.realpath(target)) for source, target in shown]
    if HOME in empty:
        binds += [
            Bind(str(homes(outfit.run) / name), f"{HOME}/{name}", writable=True)
            for name in outfit.people
        ]
    if _SYSTEM_LOGS.is_dir():
        logs = kernel_log(directory).parent
        binds.append(Bind(str(logs), os.path.realpath(_SYSTEM_LOGS), writable=True))
    binds += [bind for bind in _covers(directory, environ) if not lies_in(bind.target, empty)]
    layers = []
    libraries = library_directory()
    if outfit.library is not None and libraries is not None:
        layers.append(Layer(f"{NODE}/lib", str(libraries)))
    if outfit.look_alike is not None:
        layers += [Layer(f"{NODE}/bin", str(place)) for place in program_directories()]
    layers += layered()
    fresh += fresh_folders(empty)
    return Root(
        staging=str(directory / "root"),
        memory=str(memory(directory)),
        places=places(etc),
        empty=f"{NODE}/empty",
        nobody=f"{NODE}/nobody",
        devices=device_names(outfit.gpus, outfit.switches),
        fresh=fresh,
        hidden=hidden_paths(fresh),
        layers=layers,
        binds=binds,
        own=mounted(),
        grafts=[Graft(str(edited_files(memory(directory))), ETC, _MACHINES_ETC, _OWN_FOLDERS)],
    )


def carried(
    directory: Path,
    words: Sequence[str],
    environ: Mapping[str, str],
    empty: Sequence[str],
    writable: Sequence[Path] = (),
    here: Path | None = None,
) -> list[Bind]:
    """What a program carries onto the node whose directory that is, and what covers parts of it.

    ``empty`` are the node's fresh places (:func:`root`); it starts in ``here``, or in the current
    directory.
    """
    binds = brought(words, environ, empty, writable=writable, here=here)
    places = [bind.target for bind in binds]
    sockets = [Bind(str(directory / "nobody"), path) for path in sockets_in_use()]
    covers = [*_covers(directory, environ), *sockets]
    own = os.path.realpath(directory.parent)
    binds += [
        bind for bind in covers if lies_in(bind.target, places) and not lies_in(bind.target, [own])
    ]
    touched = directory / _TOUCHED
    if touched.exists():
        binds.append(Bind(str(touched), f"{NODE}/{_TOUCHED}", writable=True))
    return binds


def environment(
    base: Mapping[str, str], run: str, directory: Path, *, library: bool, contained: bool
) -> dict[str, str]:
    """The environment of a program on a node. ``contained``: by namespaces, in :func:`root`."""
    own = dict(base)
    seen = Path(NODE) if contained else directory
    log = kernel_log(directory)
    own[KERNEL_LOG_VARIABLE] = str(_SYSTEM_LOGS / log.name if contained else log)
    own[JOB_LOG_VARIABLE] = str((_SYSTEM_LOGS if contained else log.parent) / JOB_LOGS)
    own[INLET_VARIABLE] = str(seen / inlet(directory).name)
    own[LIMITS_VARIABLE] = str(seen / limits(directory).name)
    own[RUN_VARIABLE] = run
    own[NODE_VARIABLE] = str(seen)
    if library:
        own["LD_LIBRARY_PATH"] = _first(str(seen), base.get("LD_LIBRARY_PATH", ""))
    if not contained:
        own["PATH"] = _first(str(programs(directory)), base.get("PATH", os.defpath))
        # What a monitor remembers of a fake node is not for the user's own files.
        own[STATE_VARIABLE] = str(directory / _STATE)
    return own


def _first(entry: str, others: str) -> str:
    return f"{entry}:{others}" if others else entry


def _covers(directory: Path, environ: Mapping[str, str]) -> list[Bind]:
    """The node's own version over each file of the machine that has one, but for layered ones."""
    usual = library_directory()
    layers: dict[Path | None, Path] = {usual: directory / "lib"}
    layers |= {place: programs(directory) for place in program_directories()}
    names = sorted(path.name for path in programs(directory).iterdir())
    covers = [
        Bind(str(programs(directory) / name), str(path))
        for name, path in machine_programs(names, environ)
    ]
    library = directory / "lib" / LIBRARY_NAMES[0]
    if library.exists():
        covers += [Bind(str(library), str(path)) for path in machine_libraries(environ)]
    return [bind for bind in covers if not _is_layered(Path(bind.target), layers)]


def _is_layered(path: Path, layers: Mapping[Path | None, Path]) -> bool:
    return path.parent in layers and (layers[path.parent] / path.name).exists()
