"""The same four lines of a kernel log in every form that tools, shippers and exports give them."""

import bz2
import gzip
import json
import lzma

import pytest

from gputui.scan.blocks import blocks
from gputui.scan.reader import events

WRITTEN_S = 1_741_000_000.0
FIRST_S = 1_740_996_670

FAULT = (
    "NVRM: Xid (PCI:0000:3b:00): 31, pid=48213, name=python3, Ch 00000008, intr 00000000. MMU "
    "Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f4f_5a000000."
)
LINES = [
    FAULT,
    "usb 1-1: new high-speed USB device",
    "NVRM: Xid (PCI:0000:18:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    "NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.",
]
WANTED = [
    ("xid", 31, "0000:3b:00", 48213, "python3"),
    ("xid", 79, "0000:18:00", None, None),
    ("gpu_lost", None, "0000:18:00", None, None),
]

DAY = "2025-03-03T10:11:1"
ENTRY = {"_HOSTNAME": "gpu1", "_TRANSPORT": "kernel", "SYSLOG_IDENTIFIER": "kernel"}


def micros(number):
    """The journal's own time of a line."""
    return str((FIRST_S + number) * 1_000_000)


def entry(number, message, **more):
    """An entry of the journal."""
    return {"__REALTIME_TIMESTAMP": micros(number), **ENTRY, "MESSAGE": message, **more}


DATED = {
    "rsyslog": lambda n, m: f"Mar  3 10:11:1{n} gpu1 kernel: [  100.00000{n}] {m}",
    "rsyslog with a priority": lambda n, m: f"<4>Mar  3 10:11:1{n} gpu1 kernel: {m}",
    "busybox": lambda n, m: f"Mar  3 10:11:1{n} gpu1 kern.warn kernel: [  100.00000{n}] {m}",
    "RFC 5424": lambda n, m: f"<4>1 {DAY}{n}.000000+00:00 gpu1 kernel - - - {m}",
    "short-iso": lambda n, m: f"{DAY}{n}+0000 gpu1 kernel: {m}",
    "short-full": lambda n, m: f"Mon 2025-03-03 10:11:1{n} UTC gpu1 kernel: {m}",
    "with-unit": lambda n, m: f"Mon 2025-03-03 10:11:1{n} UTC gpu1 kernel[n/a]: {m}",
    "json": lambda n, m: json.dumps(entry(n, m)),
    "json-seq": lambda n, m: "\x1e" + json.dumps(entry(n, m)),
    "json-sse": lambda n, m: f"data: {json.dumps(entry(n, m))}\n",
    "json-pretty": lambda n, m: json.dumps(entry(n, m), indent="\t"),
    "export": lambda n, m: (
        f"__CURSOR=s=1;i={n}\n__REALTIME_TIMESTAMP={micros(n)}\n_HOSTNAME=gpu1\n"
        f"_TRANSPORT=kernel\nMESSAGE={m}\n"
    ),
    "verbose": lambda n, m: (
        f"Mon 2025-03-03 10:11:1{n}.000000 UTC [s=ab;i={n};b=cd;m=1;t=1;x=1]\n"
        f"    _TRANSPORT=kernel\n    _HOSTNAME=gpu1\n    MESSAGE={m}"
    ),
    "docker or CRI around syslog": lambda n, m: (
        f"{DAY}{n}.123456789Z stdout F Mar  3 10:11:1{n} gpu1 kernel: {m}"
    ),
    "Loki's command line": lambda n, m: (
        f'{DAY}{n}Z\t{{job="syslog"}}\tMar  3 10:11:1{n} gpu1 kernel: {m}'
    ),
    "Loki, JSON": lambda n, m: json.dumps(
        {"labels": {"x": "y"}, "line": f"Mar  3 10:11:1{n} gpu1 kernel: {m}"}
    ),
    "CloudWatch, CSV": lambda n, m: (
        f'2025-03-03 10:11:1{n}.000,"Mar  3 10:11:1{n} gpu1 kernel: {m}"'
    ),
    "CloudWatch, CSV with milliseconds": lambda n, m: (
        f'{(FIRST_S + n) * 1000},"Mar  3 10:11:1{n} gpu1 kernel: {m}"'
    ),
    "CloudWatch's command line": lambda n, m: (
        f"{DAY}{n}.000000+00:00 i-0abc Mar  3 10:11:1{n} gpu1 kernel: {m}"
    ),
    "Elastic": lambda n, m: json.dumps(
        {"@timestamp": f"{DAY}{n}.000Z", "host": {"name": "gpu1"}, "message": m,
         "process": {"name": "kernel"}}
    ),
    "Vector": lambda n, m: json.dumps(
        {"appname": "kernel", "hostname": "gpu1", "message": m, "timestamp": f"{DAY}{n}Z"}
    ),
    "Google Cloud": lambda n, m: json.dumps(
        {"jsonPayload": {"MESSAGE": m, "_TRANSPORT": "kernel", "_HOSTNAME": "gpu1"},
         "timestamp": f"{DAY}{n}Z"}
    ),
    "Fluentd": lambda n, m: (
        f"{DAY}{n}+00:00\tsyslog.kern\t"
        + json.dumps({"host": "gpu1", "ident": "kernel", "message": m})
    ),
}  # fmt: skip
"""Forms that tell the date and the machine."""

NAMELESS = {
    "dmesg -T": lambda n, m: f"[Mon Mar  3 10:11:1{n} 2025] {m}",
    "dmesg -xT": lambda n, m: f"kern  :warn  : [Mon Mar  3 10:11:1{n} 2025] {m}",
    "dmesg --time-format iso": lambda n, m: f"{DAY}{n},000000+00:00 {m}",
    "CRI": lambda n, m: f"{DAY}{n}.000000000Z stdout F [  100.00000{n}] {m}",
    "kubectl --timestamps": lambda n, m: f"{DAY}{n}.000000000Z [  100.00000{n}] {m}",
    "ts": lambda n, m: f"Mar 03 10:11:1{n} [  100.00000{n}] {m}",
    "vmkernel of ESXi": lambda n, m: f"{DAY}{n}.000Z In(182) vmkernel: cpu12:2097)NVRM: {m[6:]}",
    "Docker's files": lambda n, m: json.dumps(
        {"log": f"[  100.00000{n}] {m}\n", "stream": "stdout", "time": f"{DAY}{n}Z"}
    ),
}
"""Forms that tell the date alone."""

UNDATED = {
    "dmesg": lambda n, m: f"[  100.00000{n}] {m}",
    "dmesg -r": lambda n, m: f"<4>[  100.00000{n}] {m}",
    "dmesg -x": lambda n, m: f"kern  :warn  : [  100.00000{n}] {m}",
    "dmesg, with the caller": lambda n, m: f"[  100.00000{n}][ T1946] {m}",
    "/dev/kmsg": lambda n, m: f"4,{n},10000000{n},-;{m}",
    "nothing at all": lambda n, m: m,
    "indented": lambda n, m: f"    [  100.00000{n}] {m}",
    "to all terminals": lambda n, m: (
        f"Message from syslogd@gpu1 at Mar  3 10:11:1{n} ...\n kernel:{m}\n"
    ),
}


def read(path):
    """Each event as kind, code, address, pid and process; and all of them."""
    found = list(events(str(path), blocks(str(path)), WRITTEN_S))
    return [
        (one.event.kind, one.event.code, one.event.bus_id, one.event.pid, one.event.process)
        for one in found
    ], found


def written(path, form):
    """The four lines in a form."""
    lines = "".join(f"{form(number, line)}\n" for number, line in enumerate(LINES))
    path.write_text(lines, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def in_utc(monkeypatch):
    """Stamps without a zone are of the reader's."""
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("form", DATED)
def test_a_form_with_date_and_machine(tmp_path, form):
    """Every event, with the time and the machine that the log tells."""
    seen, found = read(written(tmp_path / "a.log", DATED[form]))
    assert seen == WANTED
    times = [round(one.event.time_s) for one in found]
    assert times == [FIRST_S, FIRST_S + 2, FIRST_S + 3]
    if "JSON" not in form or "Loki" not in form:
        assert {one.host for one in found} == {"gpu1"}


@pytest.mark.parametrize("form", NAMELESS)
def test_a_form_with_the_date_alone(tmp_path, form):
    """The machine is called as the file is."""
    seen, found = read(written(tmp_path / "a.log", NAMELESS[form]))
    assert seen == WANTED
    assert all(one.is_dated for one in found)
    assert round(found[0].event.time_s) == FIRST_S
    assert {one.host for one in found} == {"a.log"}


@pytest.mark.parametrize("form", UNDATED)
def test_a_form_without_a_date(tmp_path, form):
    """Seconds since the boot, or nothing."""
    seen, found = read(written(tmp_path / "a.log", UNDATED[form]))
    assert seen == WANTED
    assert not any(one.is_dated for one in found)


def test_dmesg_in_json(tmp_path):
    """util-linux 2.38 and later: an object over several lines for each message."""
    messages = ",".join(
        f'{{\n         "pri": 4,\n         "time":   {100 + number}.000000,\n'
        f'         "msg": {json.dumps(line)}\n      }}'
        for number, line in enumerate(LINES)
    )
    path = tmp_path / "a.log"
    path.write_text(f'{{\n   "dmesg": [\n      {messages}\n   ]\n}}\n', encoding="utf-8")
    seen, found = read(path)
    assert seen == WANTED
    assert [one.event.time_s for one in found] == [100.0, 102.0, 103.0]


def test_lines_of_a_folded_record_keep_their_numbers(tmp_path):
    """A record that takes several lines stands at its first."""
    _, found = read(written(tmp_path / "a.log", DATED["json-pretty"]))
    text = (tmp_path / "a.log").read_text(encoding="utf-8").split("\n")
    assert [text[one.line - 1] for one in found] == ["{", "{", "{"]
    assert found[0].line == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_text_as_windows_writes_it(tmp_path, encoding, ends):
    """PowerShell's files are UTF-16 with a byte order mark."""
    text = "".join(f"{DATED['rsyslog'](n, line)}{ends}" for n, line in enumerate(LINES))
    if encoding.endswith("e") and encoding != "utf-16":
        text = f"\ufeff{text}"
    (tmp_path / "a.log").write_bytes(text.encode(encoding))
    assert read(tmp_path / "a.log")[0] == WANTED


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_logs_of_any_form(tmp_path, pack):
    """What a log is packed in has no bearing on the form of what is in it."""
    plain = written(tmp_path / "a.log", DATED["json-pretty"])
    (tmp_path / "b.gz").write_bytes(pack(plain.read_bytes()))
    assert read(tmp_path / "b.gz")[0] == WANTED


@pytest.mark.parametrize(
    ("line", "times"),
    [
        ("Mar  3 10:11:41 gpu1 last message repeated 7 times", 8),
        ("Mar  3 10:11:41 gpu1 kernel: last message repeated 2 times", 3),
        ("2025-03-03T10:11:41+00:00 gpu1 last message repeated 1 times", 2),
        ("Mar  3 10:11:41 gpu1 app: I saw last message repeated 7 times today", 1),
        ("Mar  3 10:11:41 gpu1 kernel: usb 1-1: new", 1),
    ],
)
def test_a_count_stands_for_the_line_before_it(tmp_path, line, times):
    """What syslog counts instead of writing it again happened that often."""
    path = tmp_path / "a.log"
    before = DATED["rsyslog"](0, FAULT)
    path.write_text(f"{before}\n{line}\n{line}\n", encoding="utf-8")
    _, found = read(path)
    assert [one.event.times for one in found] == [times]


def test_a_count_in_the_line_itself(tmp_path):
    """The way of rsyslog to say that a message came again and again."""
    path = tmp_path / "a.log"
    path.write_text(
        f"Mar  3 10:11:12 gpu1 kernel: message repeated 4 times: [ {FAULT}]\n", encoding="utf-8"
    )
    _, found = read(path)
    assert [(one.event.code, one.event.times) for one in found] == [(31, 4)]


@pytest.mark.parametrize(
    "line",
    [
        json.dumps({"__REALTIME_TIMESTAMP": "1", "_TRANSPORT": "stdout", "MESSAGE": FAULT}),
        json.dumps({"@timestamp": "x", "process": {"name": "grep"}, "message": FAULT}),
        json.dumps({"message": f"the operator saw {FAULT}"}),
        json.dumps({"role": "user", "content": f"[  100.0] {FAULT}"}),
        json.dumps([FAULT]),
        f'question,answer\n"what is this?","it said: {FAULT}"',
        f'id,text,"see {FAULT}",1',
        f'print("{FAULT}")',
        f"* fixed: {FAULT}",
        f"    if '{FAULT}' in line:",
        f'Mar  3 10:11:12 gpu1 python3[12]: "{FAULT}"',
        f"Mar  3 10:11:12 gpu1 slack-bot[12]: {FAULT}",
        FAULT.encode("utf-16-le").hex(),
    ],
)
def test_what_somebody_else_says_is_nothing(tmp_path, line):
    """Quotations, code, chats and other programs' words, in whatever form."""
    path = tmp_path / "a.log"
    path.write_text(f"{line}\n", encoding="utf-8")
    assert read(path)[0] == []
