"""Which GPUs a call is about (``-i``), and what becomes of one that has no handle.

A GPU that fell off the bus is counted, but its handle is not to be had. Drivers up to 570 are taken
to end the whole call there, with the message on stdout and NVML's code as status; newer ones leave
the GPU out, say so on stderr, and succeed (seen with 580 and 610; where between 560 and 580 it
changed is not known). ``-L`` always names it in its place, and goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TextIO

from fakes.commands.nvidia_smi.reading import Driver, Gpu, Missing, each_gpu
from fakes.nvml.codes import Code

_LEAVES_OUT_SINCE = 575
_INDEX_DIGITS = 5


class Ended(Exception):  # noqa: N818
    """The call is over, and all is said; ``status`` is its exit status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def status_of(code: int) -> int:
    """The exit status for an NVML return code: itself, as far as a status reaches."""
    return min(code, 255)


@dataclass(frozen=True, slots=True)
class Selection:
    """The GPUs to look at. ``addresses`` are all GPUs' PCI addresses by index, if known."""

    driver: Driver
    addresses: Sequence[str]
    out: TextIO
    err: TextIO

    def gpus(self, ids: Sequence[str]) -> list[Gpu]:
        """Those with ``ids``, or all. That there is none, or none is usable, ends the call."""
        found = [self._found(each) for each in ids] if ids else self._all()
        usable = [gpu for gpu in found if gpu is not None]
        if not usable:
            self.none()
        return usable

    def none(self) -> NoReturn:
        """End the call because there is no GPU to look at."""
        self.out.write("No devices were found\n")
        raise Ended(status_of(Code.NOT_FOUND))

    def address(self, index: int) -> str:
        """A GPU's address as messages have it: ``0000:3B:00.0``."""
        return self.addresses[index].upper() if index < len(self.addresses) else str(index)

    def _all(self) -> list[Gpu | None]:
        return [self._gpu(handle, index) for index, handle in each_gpu(self.driver)]

    def _found(self, wanted: str) -> Gpu | None:
        """The GPU with an index, UUID, serial number or PCI address."""
        if wanted.isdecimal() and len(wanted) < _INDEX_DIGITS:
            handle = self.driver.ask("nvmlDeviceGetHandleByIndex", int(wanted))
            index = int(wanted)
        else:
            kind = "PciBusId" if ":" in wanted else "Serial" if wanted.isdecimal() else "UUID"
            handle = self.driver.ask(f"nvmlDeviceGetHandleBy{kind}", wanted.encode())
            index = self._index(wanted, handle)
        if isinstance(handle, Missing) and handle.code in (Code.INVALID_ARGUMENT, Code.NOT_FOUND):
            self.none()
        return self._gpu(handle, index)

    def _index(self, wanted: str, handle: Any) -> int:
        if not isinstance(handle, Missing):
            return Gpu(self.driver, handle, 0).get("nvmlDeviceGetIndex")  # type: ignore[no-any-return]
        tail = wanted.upper()[-len("3B:00.0") :]
        matching = [at for at, known in enumerate(self.addresses) if known.upper().endswith(tail)]
        return matching[0] if matching else len(self.addresses)

    def _gpu(self, handle: Any, index: int) -> Gpu | None:
        if not isinstance(handle, Missing):
            return Gpu(self.driver, handle, index)
        failure = self.driver.failure_text(handle.code)
        start = "Unable to determine the device handle for GPU"
        if self.driver.branch >= _LEAVES_OUT_SINCE:
            self.err.write(f"{start}{index}: {self.address(index)}: {failure}\n")
            return None
        self.out.write(f"{start}{self.address(index)}: {failure}\n")
        raise Ended(status_of(handle.code))
