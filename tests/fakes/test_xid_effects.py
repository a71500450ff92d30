"""What an Xid does to counters and rows, so that NVML's readings agree with the kernel log."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fakes.driver.events import EventType
from fakes.driver.xid import raise_xid
from fakes.hardware.gpu import Gpu
from fakes.node import Node
from fakes.world import World

MakeWorld = Callable[..., World]
SECOND = 1_000_000


def counters(gpu: Gpu) -> tuple[int, int, int, int]:
    """Uncorrected errors: in DRAM and SRAM since the driver was loaded, and over the GPU's life."""
    errors = gpu.memory_errors
    return (
        errors.volatile_uncorrected,
        errors.volatile_sram_uncorrected,
        errors.aggregate_uncorrected,
        errors.aggregate_sram_uncorrected,
    )


def rows(gpu: Gpu) -> tuple[int, int, bool, bool]:
    remapped = gpu.remapped_rows
    return remapped.correctable, remapped.uncorrectable, remapped.pending, remapped.failed


@pytest.fixture
def node(make_world: MakeWorld) -> Node:
    return make_world().nodes["n0"]


@pytest.mark.parametrize(
    ("code", "counted"),
    [(48, (1, 0, 1, 0)), (94, (1, 0, 1, 0)), (95, (0, 1, 0, 1)), (63, (0,) * 4), (79, (0,) * 4)],
)
def test_an_ecc_error_in_the_log_is_counted(
    node: Node, code: int, counted: tuple[int, ...]
) -> None:
    """Where the line says it was: 48 in the frame buffer, 95 in the L2 cache; once for each."""
    raise_xid(node, node.gpus[0], code, SECOND)
    assert counters(node.gpus[0]) == counted
    assert counters(node.gpus[1]) == (0, 0, 0, 0)
    raise_xid(node, node.gpus[0], code, 2 * SECOND)
    assert counters(node.gpus[0]) == tuple(2 * each for each in counted)


@pytest.mark.parametrize(
    ("code", "remapped"),
    [(63, (0, 1, True, False)), (64, (0, 0, False, True)), (48, (0, 0, False, False))],
)
def test_a_row_that_the_log_speaks_of_is_counted(
    node: Node, code: int, remapped: tuple[int, int, bool, bool]
) -> None:
    """63 marks a row, which waits for the reset; 64 says that there was no spare one."""
    raise_xid(node, node.gpus[0], code, SECOND)
    assert rows(node.gpus[0]) == remapped
    assert rows(node.gpus[1]) == (0, 0, False, False)


def test_a_contained_error_ends_its_process_and_nothing_else(node: Node) -> None:
    """94 is contained: the process that met it ends, the GPU works on."""
    (process,) = node.processes_on(node.gpus[0])
    raise_xid(node, node.gpus[0], 94, SECOND)
    assert process.pid not in node.processes
    assert not node.gpus[0].reset_required
    assert len(node.processes_on(node.gpus[1])) == 1


def test_an_uncontained_error_requires_the_reset(node: Node) -> None:
    """95 and 48 leave a GPU that must be reset."""
    for index, code in enumerate((48, 95)):
        raise_xid(node, node.gpus[index], code, SECOND)
        assert node.gpus[index].reset_required


def test_an_error_is_announced_before_its_xid(node: Node) -> None:
    """The driver reports both, in the order in which they come about, with the moment."""
    raise_xid(node, node.gpus[1], 48, SECOND)
    events = node.driver_events
    event_set = events.find_set(events.make_set(0) or 0, 0)
    assert event_set is not None
    event_set.add(1, EventType.XID | EventType.DOUBLE_BIT_ECC, 0)
    event_set.tell(0, 0)
    first, second = (events.next_event(event_set, 0) for _ in range(2))
    assert first is not None and second is not None
    assert (first.type, first.data) == (EventType.DOUBLE_BIT_ECC, 0)
    assert (second.type, second.data, second.at_us) == (EventType.XID, 48, SECOND)
