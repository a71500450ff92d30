"""What people paste: a driver's half sentence, a number in hexadecimal, several lines at once."""

import io
import json

import pytest

from gputui.commands import explain


def asked(capsys, *words):
    """The exit code, and what was printed."""
    code = explain.run(words)
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("12028, Non-fatal", "SXid 12028"),
        ("SXid 12028, Fatal, Link 46 egress non-posted PRIV error", "SXid 12028"),
        ("SXid 12028", "SXid 12028"),
        ("0x4F", "Xid 79"),
        ("Xid 0x5f", "Xid 95"),
        ("0x40", "hw_thermal_slowdown"),
        ("007", "Xid 7"),
    ],
)
def test_a_number_as_it_stands_in_a_log(capsys, question, title):
    """The driver's word behind a number makes it an SXid; one bit alone is a reason of clocks."""
    code, out = asked(capsys, question)
    assert code == 0
    assert out.startswith(title)


LINES = """\
Mar  3 10:11:10 gpu1 kernel: NVRM: Xid (PCI:0000:3b:00): 48, pid=1, name=python, An uncorrectable \
double bit error (DBE) has been detected on GPU
Mar  3 10:11:11 gpu1 kernel: usb 1-1: new high-speed USB device
Mar  3 10:11:11 gpu1 kernel: NVRM: Xid (PCI:0000:3b:00): 63, pid=1, name=python, Row Remapper: \
New row (0x1) marked for remapping, reset gpu to activate.
79
RuntimeError: CUDA error: an illegal memory access was encountered
"""


@pytest.fixture
def pasted(monkeypatch):
    """Several lines on standard input."""

    class Stdin:
        buffer = io.BytesIO(LINES.encode())

    monkeypatch.setattr("sys.stdin", Stdin)


@pytest.mark.usefixtures("pasted")
def test_several_lines_are_explained_each(capsys):
    """All that is in them, each thing once; a bare number among them is no question."""
    code, out = asked(capsys, "-")
    titles = [line for line in out.splitlines() if line.startswith(("Xid ", "CUDA error "))]
    assert code == 0
    assert [title.split("  ")[0] for title in titles] == ["Xid 48", "Xid 63", "CUDA error 700"]


@pytest.mark.usefixtures("pasted")
def test_several_lines_in_json_are_an_object_each(capsys):
    """One after the other, as jq reads them."""
    _, out = asked(capsys, "-", "--json")
    found = json.loads(f"[{out.replace(f'}}{chr(10)}{{', '},{')}]")
    assert [one["title"].split("  ")[0] for one in found] == [
        "Xid 48",
        "Xid 63",
        "CUDA error 700",
    ]
