"""An Xid that the kernel log and NVML both tell is one, with the kernel's words as evidence."""

import pytest

from gputui.assess import Assessor
from gputui.logs.nvml import NVML, parse_xid_line, xid_line


@pytest.fixture
def assessor(make):
    assessor = Assessor(interval_s=1.0)
    assessor.sample(make.node(100.0))
    return assessor


@pytest.fixture
def tell(assessor, make):
    """Have one of the two tell an Xid; the incident that is then open."""

    def tell(who, time_s, code=31, gpu=3):
        if who == "nvml":
            event = parse_xid_line(xid_line(make.BUSES[gpu], code), time_s)
        else:
            event = make.xid(time_s, gpu, code, "Ch 00000009")
        assessor.log(event)
        return [one for one in assessor._engine.incidents if one.kind == "GpuXid"]

    return tell


@pytest.mark.parametrize("order", [("kernel", "nvml"), ("nvml", "kernel")])
def test_whoever_comes_first_it_is_one_with_the_kernels_words(tell, order):
    """The second one adds what it knows, and nothing to the count."""
    first, second = order
    tell(first, 101.0)
    (incident,) = tell(second, 104.0)
    assert (incident.count, incident.opened_s) == (1, 101.0)
    assert any("Ch 00000009" in line for line in incident.evidence)


def test_a_burst_is_counted_once(tell):
    """Twelve lines of the one and twelve of the other are twelve."""
    for index in range(12):
        tell("kernel", 101.0 + index / 10)
    for _ in range(12):
        (incident,) = tell("nvml", 102.5)
    assert incident.count == 12


def test_what_only_one_of_them_tells_counts(tell):
    """NVML may tell fewer, or the log may be unreadable."""
    tell("nvml", 101.0)
    (incident,) = tell("nvml", 102.0)
    assert incident.count == 2
    for _ in range(3):
        (incident,) = tell("kernel", 103.0)
    assert incident.count == 3


def test_the_same_code_much_later_is_another(tell):
    """More than five seconds apart they are two."""
    tell("kernel", 101.0)
    (incident,) = tell("nvml", 107.0)
    assert incident.count == 2


def test_another_gpu_or_code_is_another_xid(tell):
    """Only the same code on the same GPU is the same."""
    tell("kernel", 101.0)
    tell("nvml", 101.0, gpu=4)
    assert len(tell("nvml", 101.0, code=13)) == 3


def test_a_loss_counts_its_xids_once(assessor, tell, make):
    """The cause of a lost GPU is worded by the Xids there were, whoever told them."""
    for index in range(3):
        tell("nvml", 101.0 + index / 10, code=79, gpu=5)
        tell("kernel", 101.0 + index / 10, code=79, gpu=5)
    assessor.sample(make.node(102.0, make.lost(5)))
    lost = assessor._engine.incidents[0]
    assert (lost.kind, lost.cause_text) == ("GpuLost", "Xid 79 x3")


def test_nvmls_line_reads_back():
    """It is a line of a log like others, in a stream and in a recording."""
    event = parse_xid_line(xid_line("0000:3b:00", 79), 5.0)
    assert (event.kind, event.code, event.bus_id, event.told_by) == ("xid", 79, "0000:3b:00", NVML)
    assert parse_xid_line("NVRM: Xid (PCI:0000:3b:00): 79", 5.0) is None
    assert parse_xid_line("NVML event: Xid 79 on nowhere", 5.0) is None
