"""Kernel lines in every dialect become the same events, and quoted text becomes none."""

import csv
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputui.logs.kernel import KernelParser
from gputui.logs.prefix import split_prefix

DATA = Path(__file__).parents[1] / "data" / "kernel-log"
LINES = (DATA / "lines.txt").read_text(encoding="utf-8").splitlines()
EXPECTED = list(csv.DictReader((DATA / "expected.tsv").open(encoding="utf-8"), delimiter="\t"))

KINDS = {
    "nvrm_info": "gpu_info",
    "nvrm_uuid": "gpu_uuid",
    "fallen_cont": "gpu_lost_continued",
    "rminit": "init_failed",
    "power": "power_cables",
    "mismatch_cont": "version_mismatch_continued",
    "info": "driver_loaded",
    "peermem": "peer_memory",
}

NOW_S = time.mktime((2026, 11, 30, 12, 0, 0, 0, 0, -1))


def parse(line, **options):
    return KernelParser(boot_s=NOW_S - 10_000).parse(line, NOW_S, **options)


@pytest.mark.parametrize("row", EXPECTED, ids=lambda row: f"line {row['line']}")
def test_every_documented_line_is_understood(row):
    """Kind, address, code, process id and name of each line; nothing for what is no event."""
    event = parse(LINES[int(row["line"]) - 1])
    if row["kind"] == "none":
        assert event is None
        return
    assert event is not None
    assert event.kind == KINDS.get(row["kind"], row["kind"])
    found = {"bus_id": event.bus_id, "code": event.code, "pid": event.pid, "process": event.process}
    told = {name: "" if value in (None, 0) else str(value) for name, value in found.items()}
    assert told == {name: row[name] if row[name] != "0" else "" for name in told}


XID = "NVRM: Xid (PCI:0000:3B:00): 31, pid=48213, name=a b:c/d, Ch 00000010"


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "[ 6020.000010] ",
        "[ 6020.000010] [ T1946] ",
        "[  131.000001] [    C12] ",
        "[Thu Oct 10 03:06:54 2024] ",
        "2025-03-02T10:11:12.131415+00:00 node-b kernel: ",
        "2025-03-02T10:11:12,131415+0000 ",
        "Nov 30 11:59:50 node-b kernel: ",
        "Nov  3 11:59:50 node-b kernel: [ 6020.000010] ",
        "Nov 30 11:59:50 kernel: ",
        "kernel: ",
        "4,1873,99120345678,-;",
        "6,1873,99120345678,-,caller=T12;",
        "kern  :warn  : [ 6020.000010] ",
        "<4>[ 6020.000010] ",
    ],
)
def test_the_same_message_is_found_behind_every_prefix(prefix):
    """Where a line was logged does not change what it says."""
    event = parse(prefix + XID)
    assert event is not None
    assert (event.kind, event.bus_id, event.code, event.pid, event.process, event.detail) == (
        "xid", "0000:3b:00", 31, 48213, "a b:c/d", "Ch 00000010",
    )  # fmt: skip
    assert event.text == XID


@pytest.mark.parametrize(
    "line",
    [
        'audit: type=1400 name="NVRM: Xid (PCI:0000:66:00): 79, fake"',
        "Nov 30 11:59:50 node-b train[77]: NVRM: Xid (PCI:0000:66:00): 79, quoted",
        "[ 1.0] usb 1-1: Product: NVRM: Xid (PCI:0000:66:00): 79",
        "NVRM: Xid : 32, pid=2280636",
        "NVRM: Xid (PCI:0000:66): 79, cut short",
        "",
    ],
)
def test_text_inside_other_messages_is_no_event(line):
    """Only the kernel speaks for the driver."""
    assert parse(line) is None


@pytest.mark.parametrize(
    ("line", "seconds_ago"),
    [
        ("Nov 30 11:59:50 n0 kernel: [    1.000000] " + XID, 10),
        ("[ 9000.500000] " + XID, 999.5),
        ("4,1,9000500000,-;" + XID, 999.5),
        ("Dec 25 11:00:00 n0 kernel: " + XID, None),
        (XID, 0),
        ("[Mon Nov 30 11:58:20 2026] " + XID, 100),
        ("[99999999.0] " + XID, 0),
    ],
)
def test_a_line_read_back_has_the_time_of_its_stamp(line, seconds_ago):
    """A stamp without a year that would lie ahead is of last year; none at all means now."""
    event = parse(line, live=False)
    assert event is not None
    if seconds_ago is None:
        assert NOW_S - 366 * 86_400 < event.time_s < NOW_S - 300 * 86_400
    else:
        assert event.time_s == pytest.approx(NOW_S - seconds_ago)
    assert parse(line).time_s == NOW_S


def test_a_record_on_three_lines_is_one_lost_gpu():
    """The line that says what happened does not name the GPU; the one before it does."""
    parser = KernelParser()
    events = [
        parser.parse(line, NOW_S)
        for line in (
            "[ 1.0] NVRM: The NVIDIA GPU 0000:18:00.0",
            "               NVRM: (PCI ID: 10de:26b5) installed in this system has",
            "               NVRM: fallen off the bus and is not responding to commands.",
        )
    ]
    assert [(event.kind, event.bus_id) for event in events if event.kind == "gpu_lost"] == [
        ("gpu_lost", "0000:18:00")
    ]


@given(st.text())
def test_no_text_breaks_the_parser(text):
    """Rubbish in a log is nothing, or an event, never an exception."""
    for line in (text, f"NVRM: Xid ({text}): 79", f"NVRM: Xid (PCI:0000:01:00): {text}"):
        KernelParser().parse(line, NOW_S)
        split_prefix(line, NOW_S)
