"""Events: what a GPU can report, and event sets, by which programs wait for it."""

from __future__ import annotations

from struct import Struct

from fakes.driver.events import DriverEvent, EventSet, EventType
from fakes.hardware.gpu import Gpu
from fakes.node import Node
from fakes.nvml.answer import Answer, Reach, Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import NO_INSTANCE, uint64

_SUPPORTED = int(EventType.SINGLE_BIT_ECC | EventType.DOUBLE_BIT_ECC | EventType.XID)
_DATA_V1 = Struct("<3Q")
_DATA = Struct("<3QII")


@answers("nvmlDeviceGetSupportedEventTypes", reach=Reach.DRIVER)
def supported_event_types(gpu: Gpu, at_us: int) -> Value:
    """nvmlEventType*: both sorts of ECC error, and Xids. Clock events are Kepler's alone."""
    return uint64(_SUPPORTED)


@answers("nvmlEventSetCreate", client=True, changes=True)
def create(node: Node, at_us: int, client: int) -> Value:
    """An empty set."""
    handle = node.driver_events.make_set(client)
    if handle is None:
        raise NvmlError(Code.INSUFFICIENT_RESOURCES)
    return uint64(handle)


@answers("nvmlEventSetFree", client=True, changes=True)
def free(node: Node, at_us: int, client: int, handle: int) -> Value:
    """Give a set up; whoever waits on it gets INVALID_ARGUMENT."""
    _find(node, client, handle)
    node.driver_events.free_set(handle, client)
    return ()


@answers("nvmlDeviceRegisterEvents", node=True, client=True, changes=True, reach=Reach.DRIVER)
def register(gpu: Gpu, node: Node, at_us: int, client: int, types: int, handle: int) -> Value:
    """Let a set have events of a GPU from now on. One type too many, and none is registered."""
    event_set = _find(node, client, handle)
    if types & ~_SUPPORTED:
        raise NvmlError(Code.NOT_SUPPORTED)
    event_set.add(gpu.index, types, node.driver_events.last)
    return ()


@answers("nvmlEventSetWait", client=True, changes=True)
def wait_v1(node: Node, at_us: int, client: int, handle: int, timeout_ms: int) -> Value | Answer:
    """The first form, 24 bytes: device, type, data."""
    event = _next(node, client, handle)
    if event is None:
        return _none_yet(timeout_ms)
    return _DATA_V1.pack(event.gpu, event.type, event.data)


@answers("nvmlEventSetWait_v2", client=True, changes=True)
def wait(node: Node, at_us: int, client: int, handle: int, timeout_ms: int) -> Value | Answer:
    """The next event: device, type, data (an Xid's code), and no MIG instance, 32 bytes.

    Where there is none the call takes its time; carriers ask again as long as it lasts. What was
    reported before a GPU was lost is told first; after it, that it was.
    """
    event = _next(node, client, handle)
    if event is None:
        return _none_yet(timeout_ms)
    return _DATA.pack(event.gpu, event.type, event.data, NO_INSTANCE, NO_INSTANCE)


def _find(node: Node, client: int, handle: int) -> EventSet:
    event_set = node.driver_events.find_set(handle, client)
    if event_set is None:
        raise NvmlError(Code.INVALID_ARGUMENT)
    return event_set


def _next(node: Node, client: int, handle: int) -> DriverEvent | None:
    event_set = _find(node, client, handle)
    event = node.driver_events.next_event(event_set, client)
    if event is None and any(node.gpus[gpu].lost is not None for gpu in event_set.gpus):
        raise NvmlError(Code.GPU_IS_LOST)
    return event


def _none_yet(timeout_ms: int) -> Answer:
    return Answer(int(Code.TIMEOUT), (), timeout_ms * 1000)
