"""Following a kernel log: nothing is lost, nothing comes twice, and nothing blocks."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputui.lines import LineBuffer
from gputui.logs import tail as tail_module
from gputui.logs.find import ENVIRONMENT, open_kernel_log
from gputui.logs.tail import FileTail, KmsgTail


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


def test_the_first_log_that_can_be_read_is_followed(tmp_path, log):
    """Automatic choice tries one after the other."""
    found = open_kernel_log("auto", (tmp_path / "kmsg", log))
    assert (found.path, found.notice) == (log, "")
    assert found.tail is not None
    assert found.tail.read_back() == ["one", "two"]


def test_no_readable_log_is_a_notice_that_says_what_was_tried(tmp_path):
    """The monitor goes on without Xids, and says so."""
    missing = tmp_path / "kmsg"
    found = open_kernel_log("auto", (missing, tmp_path))
    assert found.tail is None
    assert f"{missing}: No such file or directory" in found.notice
    assert "is neither a file nor a device" in found.notice
    assert "--kernel-log" in found.notice


def test_a_named_log_is_used_or_complained_about(tmp_path, log):
    """A path is taken as it is; nothing else is tried in its place."""
    assert open_kernel_log(str(log), ()).path == log
    assert str(tmp_path / "no") in open_kernel_log(str(tmp_path / "no"), (log,)).notice
    assert open_kernel_log("none", (log,)).tail is None


def test_the_environment_names_a_log_as_the_option_would(monkeypatch, log, tmp_path):
    """Programs that start the monitor can pass a log; an explicit option is stronger."""
    monkeypatch.setenv(ENVIRONMENT, str(log))
    assert open_kernel_log("auto", ()).path == log
    assert open_kernel_log("none", ()).tail is None
    assert open_kernel_log(str(tmp_path / "other"), ()).path is None
