"""A model of GPU, from ``profiles/MODEL.toml``: what the data sheet and real readings say.

Each TOML file names its sources. Units are in the key's names; :class:`Profile` has the same words.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MIB = 1024 * 1024
_AMPERE = 7  # NVML_DEVICE_ARCH_AMPERE
_FOLDER = Path(__file__).parent / "profiles"


@dataclass(frozen=True, slots=True)
class MemoryProfile:
    """Frame buffer and BAR1 sizes."""

    total_mib: int
    reserved_mib: int
    bar1_mib: int
    bus_width_bits: int
    banks: int


@dataclass(frozen=True, slots=True)
class PowerProfile:
    """Board power: idle, with every SM busy at the highest clock, and the range of its limit."""

    idle_mw: int
    full_load_mw: int
    limit_mw: int
    limit_min_mw: int
    limit_max_mw: int


@dataclass(frozen=True, slots=True)
class ClockProfile:
    """SM, memory and video clocks. Dynamic power goes as the SM clock to ``power_exponent``.

    ``idle_pstate`` is the N of the performance state PN that an idle GPU is in, where its memory
    runs at ``memory_idle_mhz``.
    """

    idle_mhz: int
    min_mhz: int
    max_mhz: int
    step_mhz: int
    memory_mhz: int
    memory_idle_mhz: int
    idle_pstate: int
    video_idle_mhz: int
    video_max_mhz: int
    power_exponent: float


@dataclass(frozen=True, slots=True)
class ThermalProfile:
    """First-order heat: air temperature, resistance and time constant at full airflow; limits."""

    air_c: float
    resistance_k_per_w: float
    time_constant_s: float
    max_operating_c: int
    slowdown_c: int
    shutdown_c: int
    memory_max_operating_c: int


@dataclass(frozen=True, slots=True)
class PcieProfile:
    """The link, at work and idle, and the traffic each way of a training job at full load."""

    generation: int
    idle_generation: int
    width: int
    busy_kib_per_s: int


@dataclass(frozen=True, slots=True)
class NvlinkProfile:
    """NVLinks to the node's switches, and the traffic of one link each way at full load.

    ``version`` is nvmlNvlinkVersion_t; no links at all is ``links`` 0. A GPU's links are spread
    over the switches in turn.
    """

    links: int
    version: int
    switches: int
    switch_pci_device_id: int
    mb_per_s: int
    busy_kib_per_s: int


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What some models can and others cannot: NVML says NOT_SUPPORTED of what is False.

    ``fabric``: registers with the NVLink fabric manager; ``thermal_margins``: T.Limit, degrees left
    to a limit, beside the limits themselves; ``memory_sensor``: tells its memory's temperature;
    ``baseboard``: a module on a baseboard with others, which are numbered, and not a card.
    """

    mig: bool
    fabric: bool
    thermal_margins: bool
    memory_sensor: bool
    confidential_computing: bool
    baseboard: bool


@dataclass(frozen=True, slots=True)
class Profile:
    """One model of GPU."""

    model: str
    name: str
    architecture: int
    brand: int
    compute_capability: tuple[int, int]
    cores: int
    pci_device_id: int
    pci_subsystem_id: int
    board_part_number: str
    vbios: str
    inforom_image: str
    has_fan: bool
    memory: MemoryProfile
    power: PowerProfile
    clocks: ClockProfile
    thermal: ThermalProfile
    pcie: PcieProfile
    nvlink: NvlinkProfile
    can: Capabilities

    @property
    def remaps_rows(self) -> bool:
        """Whether bad rows of its memory are replaced (Ampere on), rather than pages retired."""
        return self.architecture >= _AMPERE


_Part = TypeVar("_Part")


def _part(kind: type[_Part], table: Mapping[str, Any], where: str) -> _Part:
    """Build ``kind`` from a TOML table; a key too many or too few is an error that names it."""
    known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    if wrong := known ^ set(table):
        raise ValueError(f"{where}: missing or unknown keys: {', '.join(sorted(wrong))}")
    return kind(**table)


def models() -> tuple[str, ...]:
    """The names of all models there are, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


@cache
def load_profile(model: str) -> Profile:
    """Load a model's profile. An unknown model is a ``KeyError``."""
    path = _FOLDER / f"{model}.toml"
    if model not in models():
        raise KeyError(model)
    data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    where = path.name
    parts = {
        "memory": _part(MemoryProfile, data.pop("memory"), where),
        "power": _part(PowerProfile, data.pop("power"), where),
        "clocks": _part(ClockProfile, data.pop("clocks"), where),
        "thermal": _part(ThermalProfile, data.pop("thermal"), where),
        "pcie": _part(PcieProfile, data.pop("pcie"), where),
        "nvlink": _part(NvlinkProfile, data.pop("nvlink"), where),
        "can": _part(Capabilities, data.pop("can"), where),
    }
    major, minor = data.pop("compute_capability")
    return _part(
        Profile, {"model": model, "compute_capability": (major, minor), **data, **parts}, where
    )
