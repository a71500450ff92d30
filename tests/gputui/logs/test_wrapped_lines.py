"""Kernel lines that a tool has carried elsewhere: what it put in front is taken off, no more."""

import time

import pytest

from gputui.logs.kernel import KernelParser
from gputui.logs.prefix import split_prefix

NOW_S = 1_790_000_000.0
XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, name=python3, GPU has fallen off the bus."


def parse(line):
    return KernelParser().parse(line, NOW_S, live=False)


@pytest.mark.parametrize(
    ("front", "host"),
    [
        ("192.168.11.119: kern: warning: [2026-04-22T21:30:51.87Z]: ", "192.168.11.119"),
        ("mai 03 10:11:12 n7 kernel: ", "n7"),
        ("Okt 03 10:11:12 n7 kernel: ", "n7"),
        ("févr. 03 10:11:12 n7 kernel: ", "n7"),
        ("11月 15 14:15:47 n7 kernel: ", "n7"),
        ("/var/log/kern.log:Apr 22 10:11:12 n7 kernel: [   12.3] ", "n7"),
        ("/var/log/kern.log.1:311:Apr 22 10:11:12 n7 kernel: ", "n7"),
        ("1234:Apr 22 10:11:12 n7 kernel: ", "n7"),
        ("1234-Apr 22 10:11:12 n7 kernel: ", "n7"),
        ("dmesg.txt:[   12.3] ", None),
        ("12:[   12.3] ", None),
        ("n7: [   12.3] ", "n7"),
        ("n7.rack-2: [Wed Apr 22 10:11:12 2026] ", "n7.rack-2"),
        ("n7 | [   12.3] ", "n7"),
        ("n7: Apr 22 10:11:12 n7 kernel: ", "n7"),
        ("n7: 2026-04-22T10:11:12,345678+02:00 ", "n7"),
        ("\ufeff[   12.3] ", None),
        ("\ufeffApr 22 10:11:12 n7 kernel: ", "n7"),
        ("2026-04-22T21:30:51.876543210Z stderr F [   12.3] ", None),
        ("2026-04-22T21:30:51.876543210Z stdout F Apr 22 21:30:51 n7 kernel: ", "n7"),
        ("Apr 22 10:11:12 n7 kernel: #011", "n7"),
    ],
)
def test_what_carried_a_line_is_taken_off(front, host):
    """An Xid is read whatever tool wrapped its stamped line, and the machine that it named kept."""
    event = parse(front + XID)
    assert (event.code, event.bus_id, event.process) == (79, "0000:3b:00", "python3")
    assert event.host == host


@pytest.mark.parametrize(
    "front",
    [
        "Apr 22 10:11:12 n7 kubelet[812]: [   12.3] ",
        "mai 03 10:11:12 n7 kubelet[812]: ",
        "/var/log/syslog:Apr 22 10:11:12 n7 agent: ",
        "[   12.3] agent: ",
        "agent saw: [   12.3] ",
        "n7: ",
        "n7 | ",
        "2026-04-22T21:30:51.87Z stderr F ",
        "rank0: 2026-04-22 10:11:12 ",
        "Apr 22 10:11:12 n7 agent: message repeated 5 times: [ ",
        '{"log": "[   12.3] ',
    ],
)
def test_what_another_program_quotes_is_nothing(front):
    """A driver's words in the message of a program that is not the kernel are no event."""
    assert parse(front + XID) is None


@pytest.mark.parametrize(
    ("stamp", "month"), [("mai", 5), ("Okt", 10), ("févr.", 2), ("11月", 11), ("Dez", 12)]
)
def test_months_of_other_languages_are_months(stamp, month):
    """A date with a month of another language has the time that it would have in English."""
    wall_s = split_prefix(f"{stamp} 03 10:11:12 n7 kernel: {XID}", NOW_S)[0].wall_s
    assert time.localtime(wall_s)[1:4] == (month, 3, 10)


@pytest.mark.parametrize("stamp", ["", "[   12.3] "])
def test_a_message_that_was_repeated_counts_each_time(stamp):
    """What rsyslog tells as repeated is the event, and so often as it says."""
    event = parse(f"Apr 22 10:11:12 n7 kernel: message repeated 5 times: [ {stamp}{XID}]")
    assert (event.code, event.times, event.detail) == (79, 5, "GPU has fallen off the bus.")
