"""Reads one GPU by index, and keeps what it knows of it between readings.

A GPU that stops answering is told by its return code; whatever it was called before (UUID, PCI
address, name) stays with it, so that people can still say which one it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from gputui import bus
from gputui.model import GpuSample
from gputui.sources.readings import OLDER, OLDER_CODES, READINGS, Handle, Nvml, Reading
from gputui.sources.reasons import (
    ARGUMENT_VERSION_MISMATCH,
    GPU_IS_LOST,
    INVALID_ARGUMENT,
    NOT_MEASURED_YET,
    NOT_UTF8,
    OTHER_LIBRARY,
    RESET_REQUIRED,
    words,
)
from gputui.sources.slow_readings import SLOW_READINGS, SlowReading, Value
from gputui.sources.values import MissingError
from gputui.text import printable

_SLOW_FIELDS = tuple(name for reading in SLOW_READINGS for name in reading.fields)
_FIELDS = (*(name for reading in READINGS for name in reading.fields), *_SLOW_FIELDS)

_OTHER_LIBRARY_CODES = frozenset({INVALID_ARGUMENT, ARGUMENT_VERSION_MISMATCH})
"""How a library answers that does not know yet what it is asked for."""


def _no_slot(_: str) -> None:
    """Nobody knows the slots."""


class GpuReader:
    """One GPU of NVML's count.

    With ``thorough`` every reading asks for everything, also for what changes seldom. ``slot_of``
    tells the slot at a PCI address, where it is known.
    """

    def __init__(
        self,
        nvml: Nvml,
        index: int,
        *,
        thorough: bool = False,
        slot_of: Callable[[str], str | None] = _no_slot,
    ) -> None:
        self.index = index
        self.handle: Handle | None = None
        self.is_new = False
        """Whether its slow readings have to be asked for anew; for who does that to reset."""
        self._nvml = nvml
        self._thorough = thorough
        self._slot_of = slot_of
        self._identity: dict[str, Any] = {}
        self._readings: tuple[Reading, ...] = READINGS
        self._round = 0
        self._values: dict[str, Any] = {}
        self._missing: dict[str, str] = {}
        self._codes: set[int] = set()

    @property
    def bus_id(self) -> str | None:
        """Its PCI address, where it ever told it."""
        return self._identity.get("bus_id")

    def read(self) -> GpuSample:
        """Ask for what is due. Never raises: what fails is missing, with its reason."""
        self._codes.clear()
        code = self._find()
        if code:
            return self._silent(code)
        succeeded = False
        if self._thorough:
            self._round = 0
            for slow in SLOW_READINGS:
                self.read_slow(slow)
        for position, reading in enumerate(self._readings):
            if self._round == 0 or (self._round + self.index) % reading.every == 0:
                succeeded |= self._ask(position, reading)
        self._round += 1
        code = self._verdict(succeeded)
        if code and not succeeded:
            return self._silent(code)
        return GpuSample(
            index=self.index, return_code=code, missing=dict(self._missing),
            **self._identity, **self._values,
        )  # fmt: skip

    def read_slow(self, reading: SlowReading) -> None:
        """Ask for what changes seldom; the next reading shows it. Never raises."""
        if self.handle is None:
            return
        try:
            values = reading.ask(self._nvml, self.handle)
        except Exception as error:
            self._miss(reading.fields, self._slow_reason(error))
        else:
            self._keep(reading.fields, values)

    def _find(self) -> int:
        """Have a handle; return the code with which looking for one failed, else 0."""
        if self.handle is not None:
            return 0
        try:
            handle = self._nvml.nvmlDeviceGetHandleByIndex(self.index)
        except self._nvml.NVMLError as error:
            return int(error.value)
        identity = self._identify(handle)
        if identity.get("uuid", "") != self._identity.get("uuid", ""):
            self._identity = {}
        self._identity.update(identity)
        self.handle = handle
        self.is_new = True
        self._round = 0
        self._missing.update(
            dict.fromkeys(
                (name for name in _SLOW_FIELDS if name not in self._values), NOT_MEASURED_YET
            )
        )
        return 0

    def _identify(self, handle: Handle) -> dict[str, str]:
        nvml = self._nvml
        identity = {}

        def pci_address() -> str:
            pci = nvml.nvmlDeviceGetPciInfo(handle)
            return bus.bus_id(pci.domain, pci.bus, pci.device)

        asked: dict[str, Callable[[], str]] = {
            "uuid": lambda: nvml.nvmlDeviceGetUUID(handle),
            "bus_id": pci_address,
            "name": lambda: nvml.nvmlDeviceGetName(handle),
        }
        for name, ask in asked.items():
            try:
                identity[name] = printable(ask()).strip()
            except Exception as error:
                self._missing[name] = self._reason(error)
            else:
                self._missing.pop(name, None)
        if "bus_id" in identity:
            identity["slot"] = self._slot_of(identity["bus_id"]) or ""
        return identity

    def _ask(self, position: int, reading: Reading) -> bool:
        try:
            values = reading.ask(self._nvml, self.handle)
        except Exception as error:
            if reading in OLDER and getattr(error, "value", 0) in OLDER_CODES:
                older = OLDER[reading]
                swapped = list(self._readings)
                swapped[position] = older
                self._readings = tuple(swapped)
                self._miss(reading.fields, self._reason(error))
                return self._ask(position, older)
            self._miss(reading.fields, self._reason(error))
            return False
        self._keep(reading.fields, values)
        return True

    def _reason(self, error: Exception) -> str:
        if isinstance(error, self._nvml.NVMLError):
            code = int(error.value)
            self._codes.add(code)
            return words(code)
        if isinstance(error, MissingError):
            return str(error)
        if isinstance(error, UnicodeDecodeError):
            return NOT_UTF8
        return f"{type(error).__name__}: {error}"

    def _slow_reason(self, error: Exception) -> str:
        """As for others, but a library that is too old for the question is no failure."""
        if isinstance(error, AttributeError):
            return OTHER_LIBRARY
        if getattr(error, "value", None) in _OTHER_LIBRARY_CODES:
            return OTHER_LIBRARY
        return self._reason(error)

    def _verdict(self, succeeded: bool) -> int:
        """The code with which the GPU as a whole answered."""
        for grave in (GPU_IS_LOST, RESET_REQUIRED):
            if grave in self._codes:
                if grave == GPU_IS_LOST or not succeeded:
                    self.handle = None
                return grave
        if succeeded or not self._codes:
            return 0
        self.handle = None
        return max(self._codes - {INVALID_ARGUMENT}, default=INVALID_ARGUMENT)

    def _silent(self, code: int) -> GpuSample:
        """Nothing but who it was, and why."""
        self._values.clear()
        why = words(code)
        self._missing = dict.fromkeys(_FIELDS, why)
        unknown = {name: why for name in ("uuid", "bus_id", "name") if name not in self._identity}
        return GpuSample(
            index=self.index, return_code=code, missing={**unknown, **self._missing},
            **self._identity,
        )  # fmt: skip

    def _keep(self, names: Iterable[str], values: Iterable[Value]) -> None:
        for name, value in zip(names, values, strict=True):
            if isinstance(value, MissingError):
                self._miss((name,), str(value))
                continue
            self._values[name] = value
            self._missing.pop(name, None)

    def _miss(self, names: Iterable[str], reason: str) -> None:
        for name in names:
            self._values.pop(name, None)
            self._missing[name] = reason
