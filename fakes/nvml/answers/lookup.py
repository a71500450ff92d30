"""Finding a GPU: by index, UUID, serial number or PCI address.

Here a GPU that is lost shows first: it is counted, but its handle is not to be had. In the field
that fails with "Unknown Error" or with "GPU is lost" (:class:`fakes.hardware.gpu.Lookup`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from fakes.hardware.gpu import Gpu, Lookup
from fakes.node import Node
from fakes.nvml.answer import Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import uint64

_ADDRESS = re.compile(
    r"(?:(?P<domain>[0-9a-f]{1,8}):)?(?P<bus>[0-9a-f]{1,2}):(?P<device>[0-9a-f]{1,2})"
    r"(?:\.(?P<function>[0-7]))?",
    re.IGNORECASE,
)


@answers("nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByIndex_v2")
def by_index(node: Node, at_us: int, index: int) -> Value:
    """The GPU with an index. One beyond the count is an invalid argument."""
    if index >= len(node.gpus):
        raise NvmlError(Code.INVALID_ARGUMENT)
    return _handle(node.gpus[index])


@answers("nvmlDeviceGetHandleByUUID")
def by_uuid(node: Node, at_us: int, uuid: bytes) -> Value:
    """The GPU with a UUID, in either case."""
    wanted = uuid.decode(errors="replace").lower()
    return _first(node, lambda gpu: gpu.uuid.lower() == wanted)


@answers("nvmlDeviceGetHandleBySerial")
def by_serial(node: Node, at_us: int, serial: bytes) -> Value:
    """The GPU on the board with a serial number."""
    wanted = serial.decode(errors="replace")
    return _first(node, lambda gpu: gpu.serial == wanted)


@answers("nvmlDeviceGetHandleByPciBusId", "nvmlDeviceGetHandleByPciBusId_v2")
def by_pci_address(node: Node, at_us: int, address: bytes) -> Value:
    """The GPU at a PCI address: ``domain:bus:device[.function]`` or ``bus:device.function``.

    All are hexadecimal, in either case; the domain may have up to eight digits.
    """
    match = _ADDRESS.fullmatch(address.decode(errors="replace"))
    if match is None or not (match["domain"] or match["function"]):
        raise NvmlError(Code.INVALID_ARGUMENT)
    domain, bus, device, function = (int(part or "0", 16) for part in match.groups())
    return _first(
        node,
        lambda gpu: (gpu.pci_domain, gpu.pci_bus, 0, 0) == (domain, bus, device, function),
    )


def _first(node: Node, matches: Callable[[Gpu], bool]) -> bytes:
    for gpu in node.gpus:
        if matches(gpu):
            return _handle(gpu)
    raise NvmlError(Code.NOT_FOUND)


def _handle(gpu: Gpu) -> bytes:
    if gpu.lost is not None:
        unknown = gpu.lost.lookup is Lookup.UNKNOWN
        raise NvmlError(Code.UNKNOWN if unknown else Code.GPU_IS_LOST)
    return uint64(gpu.index)
