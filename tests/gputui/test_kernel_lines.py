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
    "fallen_cont": "gpu_lost",
    "rminit": "init_failed",
    "power": "power_cables",
    "mismatch_cont": "version_mismatch",
    "info": "driver_loaded",
    "peermem": "peer_memory",
}

WITHIN_A_RECORD = 50
"""The line that ends what the one before it begins: a GPU fell off the bus."""

NOW_S = time.mktime((2026, 11, 30, 12, 0, 0, 0, 0, -1))


def parse(line, **options):
    return KernelParser(boot_s=NOW_S - 10_000).parse(line, NOW_S, **options)


def parse_all(lines):
    """The events of a log that is there as a whole."""
    parser = KernelParser()
    events = []
    for position, line in enumerate(lines):
        event = parser.parse(
            line,
            NOW_S,
            number=position + 1,
            ahead=lambda position=position: lines[position + 1 :],
        )
        if event is not None:
            events.append(event)
    return events


@pytest.fixture(scope="module")
def documented():
    """The events of the documented lines, by the line where each begins."""
    return {event.line: event for event in parse_all(LINES)}


@pytest.mark.parametrize("row", EXPECTED, ids=lambda row: f"line {row['line']}")
def test_every_documented_line_is_understood(row, documented):
    """Kind, address, code, process id and name of each line; nothing for what is no event."""
    event = documented.get(int(row["line"]))
    if row["kind"] == "none" or int(row["line"]) == WITHIN_A_RECORD:
        assert event is None
        return
    assert event is not None
    assert event.kind == KINDS.get(row["kind"], row["kind"])
    found = {"bus_id": event.bus_id, "code": event.code, "pid": event.pid, "process": event.process}
    told = {name: "" if value is None else str(value) for name, value in found.items()}
    assert told == {name: row[name] for name in told}


def test_what_the_documented_lines_say_besides(documented):
    """MIG instances, and the Xid that the driver names as the cause."""
    assert documented[10].gpu_instance == 5
    assert (documented[34].gpu_instance, documented[34].compute_instance) == (2, 1)
    assert documented[33].caused_by == 31


XID = "NVRM: Xid (PCI:0000:3B:00): 31, pid=48213, name=a b:c/d, Ch 00000010"


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "[ 6020.000010] ",
        "[ 6020.000010] [ T1946] ",
        "[  131.000001] [    C12] ",
        "[ 6020.000010 <    0.000012>] ",
        "[Thu Oct 10 03:06:54 2024] ",
        "[Oct10 03:06] ",
        "[  +0.000012] ",
        "2025-03-02T10:11:12.131415+00:00 node-b kernel: ",
        "2025-03-02T10:11:12,131415+0000 ",
        "2025-03-02T10:11:12+0000 node-b kernel: ",
        "2025-03-02 10:11:12 node-b kernel: ",
        "Sun 2025-03-02 10:11:12 UTC node-b kernel: ",
        "<4>1 2025-03-02T10:11:12.131415+00:00 node-b kernel - - - ",
        "Nov 30 11:59:50 node-b kernel: ",
        "Nov 30 11:59:50.131415 node-b kernel: ",
        "Nov 30 2025 11:59:50 node-b kernel: ",
        "Nov 30 11:59:50 node-b kern.warn kernel: ",
        "Nov 30 11:59:50 node-b kernel[0]: ",
        "Nov  3 11:59:50 node-b kernel: [ 6020.000010] ",
        "Nov 30 11:59:50 kernel: ",
        "1740910272.131415 node-b kernel: ",
        "[ 6020.000010] node-b kernel: ",
        "kernel: ",
        "4,1873,99120345678,-;",
        "6,1873,99120345678,-,caller=T12;",
        "kern  :warn  : [ 6020.000010] ",
        "kern  :warn  : [Thu Oct 10 03:06:54 2024] ",
        "kern  :err   : 2025-03-02T10:11:12,131415+00:00 ",
        "<4>[ 6020.000010] ",
        "      ",
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
        "2025-03-02T10:11:12+00:00 node-b train: NVRM: Xid (PCI:0000:66:00): 79, quoted",
        "Nov 30 11:59:50 node-b kernelcare: NVRM: Xid (PCI:0000:66:00): 79, quoted",
        "[ 1.0] usb 1-1: Product: NVRM: Xid (PCI:0000:66:00): 79",
        "[ 1.0] nvme 0000:02:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer",
        "[ 1.0] pcieport 0000:16:02.0: DPC: error containment capabilities: Int Msg #0",
        "NVRM: Xid : 32, pid=2280636",
        "NVRM: Xid (PCI:0000:66): 79, cut short",
        "NVRM: Xid (PCI:0000:66:00): 79GPU",
        "",
    ],
)
def test_text_inside_other_messages_is_no_event(line):
    """Only the kernel speaks for the driver."""
    assert parse(line) is None


@pytest.mark.parametrize(
    ("line", "kind", "bus_id"),
    [
        ("NVRM: GPU at 0000:06:00.0 has fallen off the bus.", "gpu_lost", "0000:06:00"),
        ("NVRM: GPU 10000:18:00.0: GPU has fallen off the bus.", "gpu_lost", "10000:18:00"),
        (
            "NVRM: The NVIDIA GPU 0000:18:00.0 (PCI ID: 10de:26b5) installed in this system has "
            "fallen off the bus and is not responding to commands.",
            "gpu_lost",
            "0000:18:00",
        ),
        ("NVRM: RmInitAdapter failed! (0x26:0xffff:1290)", "init_failed", None),
        (
            "NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x62:0x55:1860)",
            "init_failed",
            "0000:3b:00",
        ),
        ("nvidia: probe of 0000:18:00.0 failed with error -1", "probe_failed", "0000:18:00"),
        (
            "nvidia 0000:18:00.0: probe with driver nvidia failed with error -1",
            "probe_failed",
            "0000:18:00",
        ),
        ("NVRM: The NVIDIA probe routine failed for 1 device(s).", "probe_failed", None),
        ("NVRM: None of the NVIDIA devices were initialized.", "probe_failed", None),
        (
            "pcieport 0000:16:02.0: AER: Uncorrected (Fatal) error received: 0000:18:00.0",
            "aer",
            "0000:18:00",
        ),
        (
            "nvidia 0000:18:00.0: AER: PCIe Bus Error: severity=Corrected, type=Physical Layer",
            "aer",
            "0000:18:00",
        ),
        ("NVRM: Xid (01:00): 31, Ch 0000000b", "xid", "0000:01:00"),
        ("NVRM: Xid (PCI:00000000:AF:1f.7): 31", "xid", "0000:af:1f"),
    ],
)
def test_what_else_the_kernel_says_of_gpus(line, kind, bus_id):
    """A GPU may be lost, or not come up, without a word of any Xid."""
    event = parse(line)
    assert event is not None
    assert (event.kind, event.bus_id) == (kind, bus_id)


@pytest.mark.parametrize(
    ("line", "seconds_ago"),
    [
        ("Nov 30 11:59:50 n0 kernel: [    1.000000] " + XID, 10),
        ("Nov 30 11:59:50.250000 n0 kernel: " + XID, 9.75),
        ("[ 9000.500000] " + XID, 999.5),
        ("4,1,9000500000,-;" + XID, 999.5),
        ("Dec 25 11:00:00 n0 kernel: " + XID, None),
        (XID, 0),
        ("[Mon Nov 30 11:58:20 2026] " + XID, 100),
        ("[99999999.0] " + XID, 0),
        ("2026-99-99T10:11:12 n0 kernel: " + XID, 0),
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


@pytest.mark.parametrize(
    ("stamp", "epoch_s"),
    [
        ("2025-03-02T10:11:12.500000+00:00 n0 kernel: ", 1740910272.5),
        ("2025-03-02T11:11:12+0100 n0 kernel: ", 1740910272),
        ("2025-03-02T05:11:12,5-05:00 ", 1740910272.5),
        ("2025-03-02T10:11:12Z n0 kernel: ", 1740910272),
        ("Sun 2025-03-02 10:11:12 UTC n0 kernel: ", 1740910272),
        ("1740910272.500000 n0 kernel: ", 1740910272.5),
    ],
)
def test_stamps_with_a_zone_are_unix_time(stamp, epoch_s):
    """Whatever the zone of whoever reads them."""
    assert split_prefix(stamp + XID, NOW_S)[0].wall_s == pytest.approx(epoch_s)


@pytest.mark.parametrize(
    ("line", "host"),
    [
        ("Nov 30 11:59:50 node-b kernel: " + XID, "node-b"),
        ("2025-03-02T10:11:12+0000 node-c kernel: " + XID, "node-c"),
        ("[ 6020.000010] node-d kernel: " + XID, "node-d"),
        ("[ 6020.000010] " + XID, None),
        ("Nov 30 11:59:50 kernel: " + XID, None),
    ],
)
def test_a_line_that_names_its_machine_is_of_that_machine(line, host):
    """One log may hold many nodes."""
    assert parse(line).host == host


LOST = [
    "[ 1.0] NVRM: The NVIDIA GPU 0000:18:00.0",
    "               NVRM: (PCI ID: 10de:26b5) installed in this system has",
    "               NVRM: fallen off the bus and is not responding to commands.",
]


@pytest.mark.parametrize("between", [[], ["[ 1.1] usb 1-1: new device"]])
def test_a_record_on_three_lines_is_one_lost_gpu(between):
    """The line that says what happened does not name the GPU; the first one does."""
    lines = [LOST[0], *between, LOST[1], *between, LOST[2]]
    assert [(one.kind, one.bus_id, one.line) for one in parse_all(lines)] == [
        ("gpu_lost", "0000:18:00", 1)
    ]
    parser = KernelParser()
    followed = [parser.parse(line, NOW_S, number=at + 1) for at, line in enumerate(lines)]
    assert [(one.kind, one.bus_id, one.line) for one in followed if one] == [
        ("gpu_lost", "0000:18:00", 1)
    ]


def test_a_gpu_that_the_driver_does_not_support_is_not_lost():
    """The same first line begins another record."""
    lines = [
        "NVRM: The NVIDIA GPU 0000:18:00.0 (PCI ID: 10de:1180)",
        "NVRM: installed in this system is not supported by the",
        "NVRM: NVIDIA 580.65.06 driver release.",
    ]
    assert [(one.kind, one.bus_id) for one in parse_all(lines)] == [("probe_failed", "0000:18:00")]


MISMATCH = [
    "[ 2.0] NVRM: API mismatch: the client 'nvidia-smi' (pid 812)",
    "[ 2.0] NVRM: has the version 550.90.07, but this kernel module has",
    "[ 2.0] NVRM: the version 550.54.15.  Please make sure that this",
    "[ 2.0] NVRM: kernel module and all NVIDIA driver",
    "[ 2.0] NVRM: components have the same version.",
]


def test_a_mismatch_of_versions_is_one_event_with_both():
    """Five lines, one event at the first: who asked, and the two versions."""
    (event,) = parse_all(MISMATCH)
    assert (event.kind, event.line, event.pid, event.process) == (
        "version_mismatch", 1, 812, "nvidia-smi",
    )  # fmt: skip
    assert event.detail == "client 550.90.07, kernel module 550.54.15"


def test_the_versions_of_a_mismatch_come_by_themselves_where_nothing_follows_yet():
    """Line by line, as it is printed: the mismatch at once, the versions when both are told."""
    parser = KernelParser()
    told = [one for line in MISMATCH if (one := parser.parse(line, NOW_S)) is not None]
    assert [one.kind for one in told] == ["version_mismatch", "mismatch_versions"]
    assert told[1].detail == "client 550.90.07, kernel module 550.54.15"


def test_the_fabric_managers_version_is_told_in_any_log():
    """Its own log, the system's, and what stands in a journal."""
    text = (
        "fabric manager NVIDIA GPU driver interface version 550.127.05 don't match with driver "
        "version 550.120. Please update with matching NVIDIA driver package."
    )
    for before in (
        "Nov 05 13:55:26 node1 nv-fabricmanager[104230]: ",
        "[Nov 05 2024 13:55:26] [ERROR] [tid 104230] ",
        "",
    ):
        (event,) = parse_all([before + text])
        assert (event.kind, event.detail) == ("fabric_manager", text)


def test_a_record_of_the_kernels_ring_may_hold_several_lines():
    """In /dev/kmsg the ends of the lines inside a record are escaped."""
    text = "\\x0a".join(line.removeprefix("[ 2.0] ") for line in MISMATCH)
    event = parse(f"3,55,1000000,-;{text}")
    assert event.detail == "client 550.90.07, kernel module 550.54.15"


SXID = "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): {}"


def test_the_further_lines_of_an_sxid_belong_to_it():
    """They repeat its code, and are not counted again; alone they are an event."""
    lines = [
        SXID.format("12028, Non-fatal, Link 32 egress non-posted PRIV error (First)"),
        "[ 1.0] usb 1-1: new device",
        SXID.format("12028, Severity 0 Engine instance 32 Sub-engine instance 00"),
        SXID.format("12028, Data {0x00000001, 0x00000002, 0x00000003}"),
        SXID.format("20034, Severity 1 Engine instance 5 Sub-engine instance 00"),
    ]
    assert [(one.line, one.code) for one in parse_all(lines)] == [(1, 12028), (5, 20034)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["[ 1.0] NVRM: Xid (PCI:0000:3b:0", "0): 31, pid=7, name=x, Ch 1"], (31, 7, "x")),
        (["[ 1.0] NVRM: Xi", "d (PCI:0000:3b:00): 31, pid=7, name=x, Ch 1"], (31, 7, "x")),
        (["[ 1.0] NVRM: Xid (PCI:0000:3b:00): 1", "19, pid=7, name=x, Timeout"], (119, 7, "x")),
        (["[ 1.0] NVRM: Xid (PCI:0000:3b:00): 31, pi", "d=7, name=x, Ch 1"], (31, 7, "x")),
        (["[ 1.0] NVRM: Xid (PCI:0000:3b:00): 31, pid=4", "8, name=x, Ch 1"], (31, 48, "x")),
        (["[ 1.0] NVRM: Xid (PCI:0000:3b:00): 31, pid=7,", "  name=x, Ch 1"], (31, 7, "x")),
        (["[ 1.0] NVRM: Xid (PCI:0000:3b:00): 31, pid=7,", "[ 1.0] name=x, Ch 1"], (31, 7, "x")),
        (
            ["[ 1.0] NVRM: Xid (PCI:0000:3b:00): 31, pid=7, name=py", "thon3, Ch"],
            (31, 7, "python3"),
        ),
        (["[ 1.0] NVRM: Xid (PCI:0000:3b:00): 31, pid=7, name=x", ", Ch 1"], (31, 7, "x")),
        (
            ["[ 1.0] NVRM: Xid (PCI:0000:3b:00)", ": 31, pid=7, na", "me=x, Ch 1"],
            (31, 7, "x"),
        ),
        (["NVRM: Xid (PCI:0000:3b:00): 31, pid=7,", "name=x, Ch 1"], (31, 7, "x")),
        (
            ["[ 1.0] NVRM: Xid (PCI:0000:3b:00): 31, pid=7,", "[ 1.1] usb 1-1: x", "name=x, Ch 1"],
            (31, 7, "x"),
        ),
    ],
)
def test_a_wrapped_line_is_put_together(lines, expected):
    """A terminal, a mail or a console broke it; it is one event, at its first line."""
    (event,) = parse_all(lines)
    assert (event.code, event.pid, event.process) == expected
    assert (event.bus_id, event.line) == ("0000:3b:00", 1)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["[ 1.0] NVRM: Xid (PCI:0000:3b:00): 46", "[ 1.1] usb 1-1: 9 x, y"], (46, None, None)),
        (
            ["[ 1.0] NVRM: Xid (PCI:0000:3b:00): 46, pid=7, name=x", "[ 1.1] usb 1-1: new, y"],
            (46, 7, "x"),
        ),
        (["NVRM: Xid (PCI:0000:3b:00): 46, pid=7, name=x", "usb 1-1: new, y"], (46, 7, "x")),
        (["NVRM: Xid (PCI:0000:3b:00): 46", "usb 1-1: new, y"], (46, None, None)),
    ],
)
def test_a_line_that_is_whole_is_left_alone(lines, expected):
    """What follows a short line is not taken for its rest."""
    (event,) = parse_all(lines)
    assert (event.code, event.pid, event.process) == expected


@given(st.text())
def test_no_text_breaks_the_parser(text):
    """Rubbish in a log is nothing, or an event whose parts stood in it; never an exception."""
    for line in (text, f"NVRM: Xid ({text}): 79", f"NVRM: Xid (PCI:0000:01:00): {text}"):
        event = KernelParser().parse(line, NOW_S, ahead=lambda line=line: [line, text])
        _, said = split_prefix(line, NOW_S)
        assert len(said) <= len(line)
        if event is None:
            continue
        assert event.time_s <= NOW_S + 86_400
        if line.isascii() and text.isascii():
            numbers = (event.code, event.pid)
            assert all(one is None or str(one) in f"{line}\n{text}" for one in numbers)
