"""Following a kernel log: nothing is lost, nothing comes twice, and nothing blocks."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gputui
from gputui.lines import LineBuffer
from gputui.logs import find
from gputui.logs import journal as journal_module
from gputui.logs import tail as tail_module
from gputui.logs.find import ENVIRONMENT, HeardLine, KernelLog
from gputui.logs.kernel import KernelParser
from gputui.logs.tail import FileTail, KmsgTail

ROOT = Path(gputui.__file__).parents[1]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "kern.log"
    path.write_text("one\ntwo\n")
    return path


def append(path, data):
    with path.open("ab") as file:
        file.write(data)


@pytest.fixture
def tail(log):
    tail = FileTail(log)
    yield tail
    tail.close()


def test_what_is_there_is_read_back_and_what_comes_is_followed(log, tail):
    """The lines from before come once, the new ones as they are written."""
    assert tail.read_back() == ["one", "two"]
    assert tail.read() == []
    append(log, b"three\n")
    assert tail.read() == ["three"]


def test_half_a_line_waits_for_its_end(log, tail):
    """A line is a line when it ended."""
    tail.read_back()
    append(log, b"thr")
    assert tail.read() == []
    append(log, b"ee\nfo")
    assert tail.read() == ["three"]


def test_rotation_loses_nothing(log, tail):
    """The old file is read to its end before the new one is begun."""
    tail.read_back()
    append(log, b"last\n")
    log.rename(log.with_suffix(".1"))
    log.write_text("first\n")
    assert tail.read() == ["last", "first"]


def test_a_file_that_is_gone_may_come_back(log, tail):
    """Between a rotation and the new file there is none; that is no error."""
    tail.read_back()
    log.unlink()
    assert tail.read() == []
    log.write_text("again\n")
    assert tail.read() == ["again"]


def test_truncation_begins_anew(log, tail):
    """Copytruncate keeps the file and empties it."""
    tail.read_back()
    append(log, b"half")
    tail.read()
    log.write_text("new\n")
    assert tail.read() == ["new"]


def test_reading_back_is_bounded(log, tail, monkeypatch):
    """Of a huge log only the end is read, from a whole line on."""
    monkeypatch.setattr(tail_module, "READ_BACK_BYTES", 100)
    append(log, b"".join(b"line %d\n" % n for n in range(1000)))
    lines = tail.read_back()
    assert lines[-1] == "line 999"
    assert 5 < len(lines) < 20
    assert all(line.startswith("line ") for line in lines)


def test_binary_rubbish_is_made_harmless(log, tail):
    """Nothing that a terminal would obey, or JSON refuse, gets through."""
    tail.read_back()
    append(log, b"\x00\xff\x1b[2J\xed\xa0\x80 NVRM\n" + b"x" * (1 << 17) + b"\nafter\n")
    rubbish, after = tail.read()
    assert rubbish.isprintable()
    assert "NVRM" in rubbish
    assert after == "after"


@given(st.lists(st.binary(max_size=30)), st.integers(1, 40))
def test_lines_do_not_depend_on_how_they_arrive(pieces, limit):
    """However a stream is cut, the same lines come out; none is longer than the limit."""
    whole = b"".join(pieces)
    cut, at_once = LineBuffer(limit), LineBuffer(limit)
    lines = [line for piece in pieces for line in cut.feed(piece)]
    assert lines == at_once.feed(whole)
    assert lines == [line for line in whole.split(b"\n")[:-1] if len(line) <= limit]


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/random", "/dev/null"])
def test_a_device_that_is_not_the_kernels_log_is_not_read(device):
    """Some never end, and a container may have one of them in its place."""
    followed = KernelLog(device)
    assert followed.read() == []
    assert f"{device}: is not the kernel's log" in followed.notice


def test_a_log_that_fails_while_it_is_read_back_is_said(log, monkeypatch):
    """The next one is tried, or none; the monitor goes on."""

    def fail(tail):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(FileTail, "read_back", fail)
    followed = KernelLog(str(log))
    assert followed.read() == []
    assert "Input/output error" in followed.notice


def test_kmsg_gives_a_record_a_read(tmp_path):
    """A record's dictionary lines are not its message."""
    fifo = tmp_path / "kmsg"
    os.mkfifo(fifo)
    keep = os.open(fifo, os.O_RDWR)
    tail = KmsgTail(fifo)
    try:
        os.write(keep, b"4,1,100,-;NVRM: Xid\n SUBSYSTEM=pci\n")
        assert tail.read_back() == ["4,1,100,-;NVRM: Xid"]
        assert tail.read() == []
    finally:
        tail.close()
        os.close(keep)


XID = "NVRM: Xid (PCI:0000:3b:00): {}, pid=1, name=x, text"


def heard(log, *, until=1, timeout_s=20.0):
    """What a log says, read until so many lines have come."""
    deadline = time.monotonic() + timeout_s
    lines = []
    while len(lines) < until:
        lines += log.read()
        assert time.monotonic() < deadline, lines
        time.sleep(0.01)
    return lines


def test_the_first_log_that_can_be_read_is_followed(tmp_path, log):
    """Automatic choice tries one after the other; what is there comes first, and is not of now."""
    log.write_text(XID.format(31) + "\n")
    followed = KernelLog("auto", (str(tmp_path / "kmsg"), str(log)))
    assert followed.read() == [HeardLine(XID.format(31), live=False)]
    append(log, XID.format(13).encode() + b"\n")
    assert followed.read() == [HeardLine(XID.format(13), live=True)]
    assert (followed.name, followed.notice) == (str(log), "")
    followed.close()


def test_no_readable_log_is_a_notice_that_says_what_was_tried(tmp_path):
    """The monitor goes on with what NVML tells, and says so."""
    missing = tmp_path / "kmsg"
    followed = KernelLog("auto", (str(missing), str(tmp_path)))
    assert followed.read() == []
    assert followed.name is None
    assert f"{missing}: No such file or directory" in followed.notice
    assert "is neither a file nor a device" in followed.notice
    assert "--kernel-log" in followed.notice


def test_a_named_log_is_used_or_complained_about(tmp_path, log):
    """A path is taken as it is; nothing else is tried in its place."""
    named = KernelLog(str(log), ())
    named.read()
    assert named.name == str(log)
    named.close()
    missing = KernelLog(str(tmp_path / "no"), (str(log),))
    assert missing.read() == []
    assert str(tmp_path / "no") in missing.notice
    none = KernelLog("none", (str(log),))
    assert (none.read(), none.name, none.notice) == ([], None, "")


def test_the_environment_names_a_log_as_the_option_would(monkeypatch, log, tmp_path):
    """Programs that start the monitor can pass a log; an explicit option is stronger."""
    monkeypatch.setenv(ENVIRONMENT, str(log))
    for choice, name in (("auto", str(log)), ("none", None), (str(tmp_path / "other"), None)):
        followed = KernelLog(choice, ())
        followed.read()
        assert followed.name == name
        followed.close()


def test_only_this_boot_is_read_back_and_of_a_storm_only_the_end(tmp_path, monkeypatch):
    """What another boot said is over; of a storm the end is enough, but not for what it drowned."""
    monkeypatch.setattr(find, "MOST_READ_BACK", 100)
    log = tmp_path / "kern.log"
    storm = [f"{XID.format(63)} {n}" for n in range(300)]
    lines = [XID.format(48), "[ 0.0] Linux version 6.8.0", XID.format(79), *storm]
    log.write_text("\n".join(lines) + "\n")
    followed = KernelLog(str(log))
    assert [line.text for line in followed.read()] == [XID.format(79), *storm[200:]]
    assert "200 older lines" in followed.notice
    followed.close()


# --- the journal ----------------------------------------------------------------------------------

JOURNALCTL = """#!/bin/sh
echo "$@" >> "{folder}/arguments"
cat "{folder}/errors" >&2
exec tail -n +1 -f "{folder}/messages"
"""


def entry(message, at_s):
    stamp = str(int(at_s * 1e6))
    return json.dumps({"MESSAGE": message, "__REALTIME_TIMESTAMP": stamp}) + "\n"


@pytest.fixture
def journal(tmp_path, monkeypatch):
    """A folder that a program named ``journalctl`` gives out, as that program would."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    program = bin_folder / "journalctl"
    program.write_text(JOURNALCTL.format(folder=tmp_path))
    program.chmod(0o755)
    (tmp_path / "messages").write_text("")
    (tmp_path / "errors").write_text("")
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(journal_module, "FOLDERS", (tmp_path / "journal",))
    monkeypatch.setattr(journal_module.JournalTail.__init__, "__defaults__", (
        (tmp_path / "journal",),
    ))  # fmt: skip
    (tmp_path / "journal" / "machine").mkdir(parents=True)
    (tmp_path / "journal" / "machine" / "system.journal").write_text("")
    return tmp_path


def test_the_journal_gives_back_what_was_and_follows_what_comes(journal):
    """Each message has its own time: an old one is read back, a new one is of now."""
    now_s = time.time()
    append(journal / "messages", entry(XID.format(79), now_s - 3600).encode())
    append(journal / "messages", entry("usb 1-1: new device", now_s - 3599).encode())
    followed = KernelLog("journal")
    (old,) = heard(followed)
    event = KernelParser().parse(old.text, now_s, live=old.live)
    assert (event.code, old.live) == (79, False)
    assert event.time_s == pytest.approx(now_s - 3600, abs=1e-3)
    append(journal / "messages", entry(list(XID.format(31).encode()), time.time()).encode())
    (new,) = heard(followed)
    assert (KernelParser().parse(new.text, now_s, live=new.live).code, new.live) == (31, True)
    followed.close()
    assert "--dmesg --boot --follow --output=json" in (journal / "arguments").read_text()


def test_rubbish_in_the_journal_is_passed_over(journal):
    """Entries without a message, or that are no JSON, cost nothing but themselves."""
    append(journal / "messages", b'{"MESSAGE": null, "x": "NVRM"}\nNVRM {{{\n[1, "NVRM"]\n')
    append(journal / "messages", entry(XID.format(31), time.time()).encode())
    followed = KernelLog("journal")
    (line,) = heard(followed)
    assert "Xid" in line.text
    followed.close()


def test_a_journal_that_may_not_be_read_gives_way_to_the_next_log(journal, log):
    """Whoever may only read their own messages sees no kernel there."""
    (journal / "errors").write_text(
        "Hint: You are currently not seeing messages from other users and the system.\n"
    )
    log.write_text(XID.format(31) + "\n")
    followed = KernelLog("auto", ("journal", str(log)))
    assert heard(followed) == [HeardLine(XID.format(31), live=False)]
    assert followed.name == str(log)
    followed.close()
    alone = KernelLog("journal")
    deadline = time.monotonic() + 20
    while not alone.notice:
        alone.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert "journal: no permission (group systemd-journal or adm)" in alone.notice


def test_where_there_is_no_journal_its_program_is_not_waited_for(journal, log):
    """It would wait for one without a word."""
    (journal / "journal" / "machine" / "system.journal").unlink()
    followed = KernelLog("auto", ("journal", str(log)))
    followed.read()
    assert followed.name == str(log)
    followed.close()


def test_the_journals_program_ends_with_whoever_reads_it(journal):
    """Also if that is killed: nothing is left behind on a quiet machine."""
    program = (
        "import sys, time; from pathlib import Path; from gputui.logs.journal import JournalTail;"
        f"tail = JournalTail((Path({str(journal / 'journal')!r}),));"
        "print(flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE
    ) as parent:
        parent.stdout.readline()
        mine = str(journal / "messages").encode()

        def followers():
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    words = path.read_bytes()
                except OSError:
                    continue
                if mine in words and words.startswith(b"tail"):
                    yield path

        deadline = time.monotonic() + 20
        while not list(followers()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        parent.kill()
    while list(followers()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


FABRIC = (
    "[{day} {year} {clock}] [ERROR] [tid 99] detected NVSwitch fatal error 12028 on fid 0 on "
    "NVSwitch pci bus id 00000000:86:00.0 physical id 1 port 12\n"
)


def fabric_line(time_s):
    """What the Fabric Manager writes into its own log."""
    return time.strftime(
        FABRIC.format(day="%b %d", year="%Y", clock="%H:%M:%S"), time.localtime(time_s)
    )


def test_the_fabric_managers_log_is_followed_beside(log, tmp_path, monkeypatch):
    """Its errors of switches come with those of the kernel, each with its own time."""
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    beside = tmp_path / "fabricmanager.log"
    now_s = float(int(time.time()))
    beside.write_text(f"[chatter]\n{fabric_line(now_s - 60)}", encoding="utf-8")
    followed = KernelLog("auto", (str(log),), str(beside))
    (before,) = followed.read()
    event = KernelParser().parse(before.text, now_s, live=before.live)
    assert (event.kind, event.code, event.bus_id) == ("fm_sxid", 12028, "0000:86:00")
    assert event.time_s == now_s - 60
    append(beside, f"[chatter]\n{fabric_line(now_s)}".encode())
    assert [line.live for line in followed.read()] == [True]
    assert followed.is_polled
    followed.close()


def test_a_fabric_managers_log_may_come_later(log, tmp_path, monkeypatch):
    """It is written when the service starts; where there is none, nothing is said of it."""
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    beside = tmp_path / "fabricmanager.log"
    followed = KernelLog("auto", (str(log),), str(beside))
    assert followed.read() == []
    assert followed.notice == ""
    beside.write_text(fabric_line(time.time()), encoding="utf-8")
    assert len(followed.read()) == 1
    followed.close()


def test_with_a_log_that_was_named_nothing_else_is_read(log, tmp_path):
    """Whoever names a log means that one."""
    beside = tmp_path / "fabricmanager.log"
    beside.write_text(fabric_line(time.time()), encoding="utf-8")
    followed = KernelLog(str(log), beside=str(beside))
    assert followed.read() == []
    followed.close()
