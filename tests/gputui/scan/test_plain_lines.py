"""The commonest lines are taken apart at once, and mean what they mean the long way."""

import pytest

from gputui.logs.kernel import KernelParser
from gputui.logs.prefix import split_prefix
from gputui.scan.plain import PlainLines

NOW_S = 1_741_100_000.0

MESSAGES = [
    "NVRM: Xid (PCI:0000:12:00): 31, pid=5013, name=python3, Ch 00000024, intr 00000000. MMU Fault",
    "NVRM: Xid (0000:B2:00): 13, pid=5013, name=py: (x), Graphics SM Warp Exception  ",
    "NVRM: Xid (PCI:0000:12:00): 94, pid='<unknown>', name=<unknown>, Contained: SM (0x1,0x1)",
    "NVRM: Xid (PCI:0000:12:00): 43, pid=5013, name=<unknown>, Ch 00000024",
    "NVRM: Xid (PCI:0000:12:00): 79, GPU has fallen off the bus.",
]
KNOWN_STAMPS = [
    "[ 1000.360000] ",
    "[    5.000001] [ T1946] ",
    "<4>[   10.000000] ",
    "kern  :warn  : [    1.000000] ",
    "2025-03-03T10:11:12.310000+00:00 node-b kernel: ",
    "2025-03-03T10:11:12+0530 node-b kernel: ",
    "2025-03-03T10:11:12Z node-b kernel: [   12.000000] ",
    "Mar  3 10:11:12 node-b kernel: [ 1000.360000] ",
    "Mar 13 10:11:59 node-b kernel: ",
    "Mar 03 10:11:12.345678 node-b kernel: ",
    "Mar  3 10:11:12 10.0.0.7 kernel: ",
    "Mar  3 10:11:12 UTC-7 kernel: ",
    "[Mon Mar  3 10:11:12 2025] ",
]
OTHER_STAMPS = [
    "",
    "4,1234,99999,-;",
    "2025-03-03T10:11:12,310000+00:00 ",
    "2025-02-30T10:11:12+00:00 node-b kernel: ",
    "2025-03-03T10:11:12+00:00 node-b myapp: ",
    "2025-03-03T10:11:12+00:00 node-b myapp[12]: it said kernel: ",
    "node-b: [    1.000000] ",
    "1741000000.123456 node-b kernel: ",
]


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("stamp", [*KNOWN_STAMPS, *OTHER_STAMPS])
def test_a_line_means_what_it_means_the_long_way(stamp, message):
    """Time, machine and each part are the same; or the short way leaves the line to the long."""
    line = f"{stamp}{message}"
    found = PlainLines(NOW_S).read(line.encode())
    if found is None:
        assert stamp in OTHER_STAMPS
        return
    taken, text, parsed = found
    long_stamp, rest = split_prefix(line.strip(), NOW_S)
    event = KernelParser().read(long_stamp, rest, 0.0)
    assert event is not None
    assert (taken.wall_s is None) == (long_stamp.wall_s is None)
    if taken.wall_s is None:
        assert taken.uptime_s == pytest.approx(long_stamp.uptime_s)
    else:
        assert taken.wall_s == pytest.approx(long_stamp.wall_s)
    assert (taken.host, text) == (long_stamp.host, event.text)
    assert parsed == (event.bus_id, event.code, event.pid, event.process, event.detail)


@pytest.mark.parametrize(
    "message",
    [
        "NVRM: Xid (PCI:0000:12:00 GPU-I:05): 94, pid=5013, name=python3, Contained: SM (0x1,0x1)",
        "NVRM: Xid (PCI:0000:12:00): 45, pid=5013, name=python3, Ch 00000024 caused by previous "
        "Xid 79",
        "NVRM: Xid (PCI:0000:12:00): 31, pid=5013, name=a, b, Ch 00000024, intr 00000000.",
        "NVRM: Xid (PCI:0000:12:00): 79, pid=5013, name=python3, GPU has f",
        "NVRM: Xid (PCI:0000:12:00): 31, pid=5013, name=python3, Ch 0",
        "NVRM: Xid (PCI:0000:12:00): 79, GPU has fallen off the bus.",
        "NVRM: Xid (PCI:0000:12:00): 94, pid='<unknown>', name=python3, Contained: SM (0x1,0x1)",
        "NVRM: Xid (PCI:0000:12:00): 94, pid=<unknown>, name=<unknown>, Contained: SM (0x1,0x1)",
        "NVRM: GPU 0000:12:00.0: GPU has fallen off the bus.",
    ],
)
def test_what_is_not_plain_is_left_to_the_long_way(message):
    """MIG, causes, names with commas, texts that may go on with the next line: none is guessed."""
    found = PlainLines(NOW_S).read(f"[ 1000.360000] {message}".encode())
    if found is not None:
        event = KernelParser().read(found[0], message, 0.0)
        assert event is not None
        assert found[2] == (event.bus_id, event.code, event.pid, event.process, event.detail)
