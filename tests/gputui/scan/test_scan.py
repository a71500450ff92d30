"""gputui scan: every event with its line, what the events add up to, whatever the logs are like."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gputui
from gputui.commands.scan import run
from gputui.scan import blocks as blocks_module
from gputui.scan.blocks import whole_lines
from gputui.scan.candidates import candidates
from gputui.scan.judge import Judge
from gputui.scan.order import in_order
from gputui.scan.reader import events, host_of

ROOT = Path(gputui.__file__).parents[1]
DATA = Path(__file__).parents[2] / "data" / "kernel-log"
TITAN = os.environ.get("GPUTUI_TITAN_CSV", ROOT.parent / "shared/data/titan_dbe_otb_events.csv")


@pytest.fixture
def scan(capsys, tmp_path):
    """Scan texts (or files), with ``--json``; the exit status, the events and the incidents."""

    def scanned(*logs, status=None):
        names = []
        for number, log in enumerate(logs):
            if isinstance(log, str):
                path = tmp_path / f"log{number}"
                path.write_text(log, encoding="utf-8")
                log = path
            names.append(str(log))
        code = run(["--json", *names])
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert status is None or code == status
        found = [line for line in lines if line["event"] != "incident"]
        return found, [line["incident"] for line in lines if line["event"] == "incident"]

    return scanned


def kinds(incidents):
    return {(one["kind"], one["subject"]): one for one in incidents}


def xid(t, bus, code, text="Ch 00000008", pid=7, name="python3"):
    owner = f", pid={pid}, name={name}" if name else ""
    return f"[{t:12.6f}] NVRM: Xid (PCI:0000:{bus:02x}:00): {code}{owner}, {text}\n"


def test_the_documented_lines_come_out_as_events(scan):
    """Address, code, pid and process of each line, under the names that machines read."""
    found, _ = scan(DATA / "lines.txt", status=1)
    by_line = {one["line"]: one for one in found}
    rows = csv.DictReader((DATA / "expected.tsv").open(encoding="utf-8"), delimiter="\t")
    for row in rows:
        number = int(row["line"])
        if row["kind"] == "none" or number == 50:  # the second line of a record
            assert number not in by_line
            continue
        one = by_line[number]
        told = {name: one[name] for name in ("bus_id", "code", "pid", "process")}
        told = {name: "" if value is None else str(value) for name, value in told.items()}
        assert told == {name: row[name] for name in told}
        assert set(one) >= {"event", "file", "line", "bus_id", "code", "pid", "process", "text"}


def test_a_lost_gpu_is_one_incident_with_its_xids_under_it(scan):
    """However often the driver says so, and with whatever follows from it."""
    log = "".join(xid(10 + t, 0x3B, 79, "GPU has fallen off the bus.") for t in range(12))
    log += xid(11.5, 0x3B, 45)
    _, incidents = scan(log, status=1)
    roots = [one for one in incidents if one["parent"] is None]
    assert [(one["kind"], one["subject"], one["action"], one["cause"]) for one in roots] == [
        ("GpuLost", "gpu:0000:3b:00", "power_cycle", "bus")
    ]
    assert sum(one["count"] for one in incidents if "GpuXid-79" in one["id"]) == 12


def test_the_same_xid_on_the_gpus_of_one_job_is_the_jobs(scan):
    """Where no job data exist: the same code, the same process name, three GPUs, five seconds."""
    log = "".join(xid(100 + 0.5 * n, 0x10 + n, 31) for n in range(4))
    _, incidents = scan(log, status=1)
    roots = [one for one in incidents if one["parent"] is None]
    assert [(one["kind"], one["subject"]) for one in roots] == [("GpuXid", "job:python3")]
    assert [one["count"] for one in roots] == [4]
    far = "".join(xid(100 + 30 * n, 0x10 + n, 31) for n in range(4))
    _, incidents = scan(far, status=1)
    assert {one["subject"] for one in incidents} == {f"gpu:0000:1{n}:00" for n in range(4)}


def test_38905_xids_95_of_four_gpus_are_four_incidents(scan, tmp_path):
    """A flood is counted, to the last one."""
    order = random.Random(4)
    log = "".join(
        xid(10 + 7 * n, 0x10 + order.randrange(4), 95, "Uncontained: FBHUB. RST: Yes, D-RST: No")
        for n in range(38_905)
    )
    found, incidents = scan(log, status=1)
    assert len(found) == 38_905
    assert len([one for one in incidents if one["parent"] is None]) == 4
    xids = [one for one in incidents if one["kind"] == "GpuXid"]
    assert len(xids) == 4
    assert sum(one["count"] for one in xids) == 38_905


@pytest.mark.skipif(not Path(TITAN).exists(), reason="the list of Titan's failures is not here")
def test_every_failure_of_titan_is_accounted_for(scan):
    """Double-bit errors and lost GPUs, each counted once; repeat offenders stand out."""
    found, incidents = scan(TITAN, status=1)
    told = {"DBE": 0, "OTB": 0}
    for row in csv.DictReader(Path(TITAN).read_text(encoding="utf-8").splitlines()):
        told[row["event"]] += 1
    count = {}
    for one in incidents:
        count[one["kind"]] = count.get(one["kind"], 0) + one["count"]
    assert len(found) == count["GpuXid"] == 6_367
    assert count["EccUncorrectable"] == told["DBE"]
    assert count["GpuLost"] == told["OTB"]
    assert [one for one in incidents if one["kind"] == "LemonGpu"]


def test_a_list_of_failures_is_read_by_its_columns(scan):
    """Words of such lists, Xids by number, and a GPU that goes by its name."""
    log = (
        "time,event,gpu,location\n2014-01-23 05:59:42,DBE,g1,c0\n2014-01-24 05:59:42,Xid 79,g2,c1\n"
    )
    log += "x,DBE,g3,c1\n2014-01-24 05:59:42,?,g3,c1\n"
    found, incidents = scan(log, status=1)
    assert [(one["line"], one["code"], one["host"]) for one in found] == [
        (2, 48, "c0"),
        (3, 79, "c1"),
    ]
    assert {("EccUncorrectable", "gpu:g1"), ("GpuLost", "gpu:g2")} <= set(kinds(incidents))


def test_two_machines_in_one_log_are_not_mixed_up(scan):
    """GPUs at the same address of different nodes are different GPUs."""
    line = "Mar 02 10:11:{:02d} {} kernel: NVRM: Xid (PCI:0000:3b:00): 48, An uncorrectable\n"
    _, incidents = scan("".join(line.format(n, host) for n, host in enumerate("abab")), status=1)
    xids = [one for one in incidents if one["kind"] == "GpuXid"]
    assert sorted((one["host"], one["count"]) for one in xids) == [("a", 2), ("b", 2)]


def stamped(second, code, host="n0"):
    return (
        f"2025-03-02T10:11:{second:02d}+00:00 {host} kernel: NVRM: Xid (PCI:0000:3b:00): {code}\n"
    )


def test_logs_are_one_by_time_and_those_without_a_date_come_last(scan):
    """A rotated set may be named in any order."""
    dated_late, dated_early = stamped(9, 43) + stamped(30, 45), stamped(5, 31) + stamped(20, 13)
    undated = "NVRM: Xid (PCI:0000:3b:00): 62\nNVRM: Xid (PCI:0000:3b:00): 61\n"
    found, _ = scan(undated, dated_late, dated_early)
    assert [one["code"] for one in found] == [31, 43, 13, 45, 62, 61]
    assert [one["time_s"] is None for one in found] == [False] * 4 + [True] * 2


def test_many_logs_are_merged_with_few_of_them_open(scan):
    """More than may be open at once, in a wrong order."""
    logs = [stamped(second, 31) + stamped(second, 43) for second in reversed(range(50))]
    found, _ = scan(*logs)
    assert [one["code"] for one in found] == [31, 43] * 50
    assert [one["time_s"] for one in found] == sorted(one["time_s"] for one in found)


def test_time_goes_on_over_reboots_in_a_log_of_uptimes():
    """What counts from the boot starts anew, and is later all the same."""
    log = (xid(500, 1, 13) + xid(3, 1, 13) + xid(8, 1, 13)).encode()
    assert [one.event.time_s for one in events("x", iter([log]), 0.0)] == [500, 503, 508]


@pytest.mark.parametrize(
    ("name", "pack"),
    [("kern.log.2.gz", gzip.compress), ("a.bz2", bz2.compress), ("a.xz", lzma.compress)],
)
def test_packed_logs_are_read_as_they_are(scan, tmp_path, name, pack):
    """By their first bytes, whatever they are called."""
    path = tmp_path / name
    path.write_bytes(pack(xid(1, 0x3B, 79).encode()))
    assert [one["code"] for one in scan(path, status=1)[0]] == [79]


def test_a_damaged_archive_is_told_and_what_came_before_is_read(tmp_path, capsys):
    """Exit status 2, one line, no traceback."""
    noise = "".join(f"[{n}.0] noise {random.Random(n).random()}\n" for n in range(9000))
    packed = gzip.compress((xid(1, 0x3B, 79) + noise).encode())
    for name, data in (("cut.gz", packed[:-9000]), ("bad.gz", packed[:200] + b"x" * 20_000)):
        (tmp_path / name).write_bytes(data)
        assert run([str(tmp_path / name)]) == 2
        assert name in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nothing-here", "."])
def test_what_cannot_be_read_is_told_and_the_rest_is_scanned(tmp_path, capsys, name):
    """Which, and why; the incidents of the others are there."""
    good = tmp_path / "good.log"
    good.write_text(xid(1, 0x3B, 79))
    assert run([str(good), str(tmp_path / name)]) == 2
    out, err = capsys.readouterr()
    assert "GpuLost" in out
    assert err.startswith("gputui: ")
    assert err.count("\n") == 1


def test_the_exit_status_says_whether_all_is_well(scan):
    """Nothing, or what is merely information, is healthy."""
    scan("[ 1.0] usb 1-1: new device\n", status=0)
    scan(xid(1, 0x3B, 43), status=0)
    scan(xid(1, 0x3B, 31), status=1)
    scan("", status=0)


def test_standard_input_is_a_log_as_well(tmp_path):
    """``dmesg | gputui scan -``."""
    done = subprocess.run(
        [sys.executable, "-m", "gputui", "scan", "-"],
        input=xid(1, 0x3B, 79).encode(),
        capture_output=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 1
    assert b"GpuLost gpu:0000:3b:00" in done.stdout


def test_the_table_for_people_is_short(capsys, tmp_path):
    """The incidents, when, how often, what to do, and how to see more."""
    log = tmp_path / "kern.log"
    log.write_text("".join(xid(100 + n, 0x3B, 31) for n in range(40)))
    assert run([str(log)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "INCIDENTS  1 warning"
    assert lines[1] == ("warning  GpuXid gpu:0000:3b:00 x40  100 s after boot - 139 s after boot")
    assert "> restart the application" in lines[2]
    assert "more:   gputui explain 31" in lines
    assert len(lines) == 6


# --- what logs are like ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\0\0\0\0" + xid(1, 0x3B, 79).encode(), [(1, 79)]),
        (b"half a line\0\0\0" + xid(1, 0x3B, 79).encode(), [(1, 79)]),
        (b"\xff\xfe rubbish \x80\n" + xid(1, 0x3B, 79).encode(), [(2, 79)]),
        (xid(1, 0x3B, 79).rstrip("\n").encode(), [(1, 79)]),
        (xid(1, 0x3B, 79).replace("\n", "\r\n").encode() * 2, [(1, 79), (2, 79)]),
        (b"x" * 3_000_000 + b"\n" + xid(1, 0x3B, 79).encode(), [(2, 79)]),
        (xid(1, 0x3B, 79).encode()[:-1] + b"x" * 3_000_000 + b"\n", [(1, 79)]),
        (xid(1, 0x3B, 31, name="\N{SNOWMAN}").encode()[:60] + b"\xe2\n", [(1, 31)]),
        (b"\x1b[32m[    1.0] \x1b[0m\x1b[33mNVRM: \x1b[0mXid (PCI:0000:3b:00): 79\n", [(1, 79)]),
        (b"\n\n\n" + xid(1, 0x3B, 79).encode(), [(4, 79)]),
        (b"", []),
        (b"\0" * 1000, []),
    ],
)
def test_rubbish_around_a_line_does_no_harm(tmp_path, data, expected):
    """What crashes, consoles and editors leave in a log."""
    found = events("x", blocks_of(data), 0.0)
    assert [(one.line, one.event.code) for one in found] == expected


def blocks_of(data, size=blocks_module.BLOCK_BYTES):
    return whole_lines(io.BytesIO(data), size)


@settings(deadline=None)
@given(st.binary(max_size=300), st.integers(1, 64))
def test_blocks_are_whole_lines_however_big_they_are(data, size):
    """Nothing is lost and nothing is cut."""
    found = list(blocks_of(data, size))
    assert b"".join(found) == data
    assert all(block.endswith(b"\n") for block in found[:-1])


@settings(deadline=None)
@given(st.lists(st.sampled_from([*(DATA / "lines.txt").read_bytes().splitlines(), b"", b"noise"])))
def test_events_do_not_depend_on_how_a_log_is_cut_into_blocks(lines):
    """A record may go over the end of a block."""
    data = b"".join(line + b"\n" for line in lines)
    whole = sorted(one.line for one in events("x", blocks_of(data), 0.0))
    small = sorted(one.line for one in events("x", blocks_of(data, 150), 0.0))
    assert small == whole


def test_every_line_that_is_an_event_is_looked_at():
    """The quick search passes over nothing that the parser understands."""
    from gputui.logs.kernel import KernelParser

    for line in (DATA / "lines.txt").read_bytes().splitlines():
        event = KernelParser().parse(line.decode(), 0.0)
        assert event is None or candidates(line + b"\n", with_answers=True) == [(0, len(line))]


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("/var/log/kern.log", "kern.log"),
        ("kern.log.1", "kern.log"),
        ("kern.log.12.gz", "kern.log"),
        ("messages-20250302.xz", "messages"),
        ("-", "stdin"),
    ],
)
def test_a_rotated_log_is_of_the_machine_of_the_first(name, host):
    """Where lines do not name their machine."""
    assert host_of(name) == host


def test_a_journal_in_json_is_a_kernel_log(scan):
    """``journalctl -k -o json``: the kernel's entries count, what others quote does not."""
    entry = {
        "__REALTIME_TIMESTAMP": "1740910272500000",
        "_HOSTNAME": "node-b",
        "_TRANSPORT": "kernel",
        "MESSAGE": "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, name=a b, GPU has fallen off the bus.",
    }
    log = json.dumps({**entry, "_TRANSPORT": "stdout"}) + "\n" + json.dumps(entry) + "\n{ NVRM: \n"
    found, _ = scan(log, status=1)
    assert [(one["line"], one["code"], one["host"], one["time_s"]) for one in found] == [
        (2, 79, "node-b", 1740910272.5)
    ]


def test_memory_does_not_grow_with_the_log():
    """A log of any size is read block by block, and incidents are bounded."""
    import tracemalloc

    def log(count):
        for number in range(count):
            yield (f"[{number}.0] noise\n" * 400 + xid(number, 0x10 + number % 8, 31)).encode()

    def peak(count):
        tracemalloc.start()
        judge = Judge()
        for one in in_order([lambda: events("x", log(count), 0.0)]):
            judge.hear(one.event, one.host)
        judge.incidents()
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(50)
    assert peak(1600) < 1.5 * peak(400) + 200_000


def test_a_jobs_log_is_read_as_well(scan):
    """What is no kernel's or system's log is what a job printed."""
    log = (
        "step 1 loss 3.2\n" * 20
        + "Traceback (most recent call last):\n"
        + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a "
        "total capacity of 14.57 GiB of which 1.58 GiB is free.\n"
    )
    found, incidents = scan(log, status=1)
    assert [(one["event"], one["line"], one["pattern"]) for one in found] == [
        ("text", 22, "torch_oom_new")
    ]
    assert [one["kind"] for one in incidents] == ["GpuOutOfMemory"]


def test_a_repeated_message_counts_among_its_like_in_an_incident(scan):
    """Rsyslog's "message repeated" adds as many as it says; a byte order mark hides no line."""
    line = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
    found, incidents = scan(
        f"\ufeffApr 22 10:11:12 n7 kernel: {line}\n"
        f"Apr 22 10:11:13 n7 kernel: message repeated 5 times: [ {line}]\n",
        status=1,
    )
    assert [one["line"] for one in found] == [1, 2]
    assert {one["kind"]: one["count"] for one in incidents} == {"GpuLost": 6, "GpuXid": 6}
