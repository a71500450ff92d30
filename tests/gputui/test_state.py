"""What is remembered between two runs, and what becomes of a file that is damaged."""

import fcntl
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import gputui
from gputui.assess import Assessor
from gputui.incidents.case import SavedIncident
from gputui.incidents.inventory import SeenGpu
from gputui.model import Action, HostSample, Incident, Severity
from gputui.notebook import Notebook
from gputui.state import MOST_BYTES, MOST_CLEARED, NodeState, StateFile

ROOT = Path(gputui.__file__).parents[1]
HOT = {"clock_reasons": 0x40}


def incident(number, text="x"):
    return Incident(
        f"n0/gpu1/GpuXid-31/{number}", "GpuXid", "gpu:GPU-1", "n0", Severity.WARNING,
        float(number), "application", text, Action.RESTART_APP, "restart", evidence=(text,) * 16,
        cleared_s=number + 1.0,
    )  # fmt: skip


class Run:
    """One run of the monitor on a node, without the monitor's loop."""

    def __init__(self, make, folder, boot_id="boot-1"):
        self.make = make
        self.file = StateFile(folder, "n0")
        self.assessor = Assessor(interval_s=1.0)
        self.boot_id = boot_id
        self.begun = False

    def sees(self, time_s, *changed, seconds=1):
        for second in range(seconds):
            sample = replace(
                self.make.node(time_s + second, *changed),
                host_readings=HostSample(boot_id=self.boot_id),
            )
            if not self.begun:
                self.assessor.recall(self.file.load(), sample)
                self.begun = True
            snapshot = self.assessor.sample(sample)
        self.assessor.changes()
        return snapshot

    def reads_back(self, time_s, gpu, code):
        self.assessor.hear(self.make.xid(time_s, gpu, code), live=False)

    def ends(self):
        self.assessor.changes()
        self.file.save(self.assessor.state)


@pytest.fixture
def run(make, tmp_path):
    return lambda **options: Run(make, tmp_path, **options)


def test_gpus_are_remembered_with_when_they_were_seen(run):
    """The next run knows who stood where."""
    first = run()
    first.sees(1000.0, seconds=3)
    first.ends()
    gpu = StateFile(first.file._path.parent, "n0").load().gpus[3]
    assert gpu == SeenGpu("GPU-00000003", 3, "0000:13:00", "NVIDIA H100 80GB HBM3", 1002.0)


def test_an_incident_goes_on_with_its_acknowledgement(run, make):
    """Lost before and lost now is one incident, since the same time, seen by the same people."""
    first = run()
    snapshot = first.sees(1000.0, make.lost(5), seconds=3)
    first.assessor.acknowledge(snapshot.incidents[0].id)
    first.ends()
    again = run().sees(9000.0, make.lost(5), seconds=2)
    (incident,) = again.incidents
    assert (incident.id, incident.opened_s, incident.acknowledged) == (
        snapshot.incidents[0].id, 1000.0, True,
    )  # fmt: skip
    assert again.statuses[5].since_s == 1000.0


def test_what_is_over_by_now_is_over(run, make):
    """The GPU answers: the incident of before is not shown, but kept among those that are over."""
    first = run()
    first.sees(1000.0, make.lost(5), seconds=3)
    first.ends()
    second = run()
    assert second.sees(9000.0, seconds=2).incidents == ()
    assert [one.kind for one in second.assessor.state.cleared] == ["GpuLost"]


def test_a_reboot_ends_what_was_before(run, make):
    """Lost again after it is a new incident, which nobody has seen yet."""
    first = run()
    snapshot = first.sees(1000.0, make.lost(5), seconds=3)
    first.assessor.acknowledge(snapshot.incidents[0].id)
    first.ends()
    again = run(boot_id="boot-2").sees(9000.0, make.lost(5), seconds=3)
    (lost,) = [one for one in again.incidents if one.kind == "GpuLost"]
    assert (lost.opened_s, lost.acknowledged) == (9000.0, False)


def test_what_comes_and_goes_is_not_the_same_an_hour_later(run, make):
    """Hot yesterday and hot today are two; hot a minute ago and still hot are one."""
    first = run()
    first.sees(1000.0, make.gpu(3, **HOT), seconds=5)
    first.ends()
    second = run()
    snapshot = second.sees(1064.0, make.gpu(3, **HOT))
    assert [one.opened_s for one in snapshot.incidents] == [1000.0]
    second.ends()
    third = run()
    assert third.sees(9000.0, make.gpu(3, **HOT)).incidents == ()
    assert [
        one.opened_s for one in third.sees(9001.0, make.gpu(3, **HOT), seconds=3).incidents
    ] == [9000.0]


def test_lines_that_were_heard_before_are_not_counted_again(run, make):
    """The log is read back at every start; the count is that of the lines."""
    first = run()
    first.sees(1000.0)
    for second in range(12):
        first.reads_back(1001.0 + second, 3, 95)
    first.ends()
    second = run()
    for time_s in range(12):
        second.reads_back(1001.0 + time_s, 3, 95)
    second.reads_back(1500.0, 3, 95)
    (incident,) = [one for one in second.sees(2000.0).incidents if one.kind == "GpuXid"]
    assert (incident.count, incident.opened_s) == (13, 1001.0)


def test_a_grave_xid_stays_after_a_restart_as_long_as_it_would_have(run):
    """What needs a reset does not heal because somebody looked twice."""
    first = run()
    first.sees(1000.0)
    first.reads_back(1001.0, 3, 95)
    first.ends()
    second = run()
    still_open = second.sees(1000.0 + 7200, seconds=700).incidents
    assert [one.kind for one in still_open if one.parent is None] == ["EccUncorrectable"]
    assert second.sees(1000.0 + 90_000).incidents == ()


def test_an_xid_hangs_under_its_cause_again(run, make):
    """Which was which is known after a restart too."""
    first = run()
    first.sees(1000.0)
    first.reads_back(1000.5, 5, 79)
    first.sees(1001.0, make.lost(5), seconds=2)
    first.ends()
    snapshot = run().sees(1100.0, make.lost(5), seconds=2)
    assert [(one.kind, one.parent is None) for one in snapshot.incidents] == [
        ("GpuLost", True), ("GpuXid", False),
    ]  # fmt: skip


# --- the file -------------------------------------------------------------------------------------


def test_what_is_written_is_read_back(tmp_path):
    """Names of nodes make names of files that cannot leave the folder."""
    state = NodeState("boot", 5.0, (SeenGpu("GPU-1", 0, None, "x", 3.0),), (), (incident(1),))
    file = StateFile(tmp_path / "state", "../n0/x")
    file.save(state)
    assert StateFile(tmp_path / "state", "../n0/x").load() == state
    assert [path.parent for path in tmp_path.rglob("*.json")] == [tmp_path / "state"]
    assert file.notice == ""


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"version": 2}', '{"version": 1}', "\x00\x00", "[" * 100_000,
     '{"version":1,"boot_id":null,"heard_s":1,"gpus":[{"uuid":5}],"open":[],"cleared":[]}',
     '{"version":1,"boot_id":null,"heard_s":1,"gpus":[],"open":[{}],"cleared":[]}'],
)  # fmt: skip
def test_a_damaged_file_is_told_and_begun_anew(tmp_path, text):
    """Nothing is lost but what was in it, and even that is kept aside."""
    (tmp_path / "n0.json").write_text(text)
    file = StateFile(tmp_path, "n0")
    assert file.load() == NodeState()
    assert "n0.json is damaged" in file.notice
    assert (tmp_path / "n0.json.damaged").read_text() == text
    file.save(NodeState(heard_s=1.0))
    assert StateFile(tmp_path, "n0").load().heard_s == 1.0


def test_a_file_that_cannot_be_written_is_told_once_and_not_tried_again(tmp_path):
    """A file in the place of the folder, say; it goes on all the same."""
    (tmp_path / "state").write_text("")
    file = StateFile(tmp_path / "state", "n0")
    assert file.load() == NodeState()
    file.save(NodeState())
    assert "are not remembered" in file.notice
    (tmp_path / "state").unlink()
    file.save(NodeState())
    assert not (tmp_path / "state").exists()


def test_the_file_is_bounded(tmp_path):
    """Ten megabytes hold, whatever happened; what is newest stays."""
    many = tuple(incident(number, "x" * 9000) for number in range(MOST_CLEARED + 100))
    file = StateFile(tmp_path, "n0")
    file.save(NodeState(cleared=many))
    assert (tmp_path / "n0.json").stat().st_size <= MOST_BYTES
    cleared = StateFile(tmp_path, "n0").load().cleared
    assert 10 < len(cleared) <= MOST_CLEARED
    assert cleared[-1] == many[-1]


def test_no_half_file_is_ever_seen(tmp_path):
    """A new one is put in the place of the old one as a whole, and nothing is left beside it."""
    file = StateFile(tmp_path, "n0")
    for number in range(5):
        file.save(NodeState(heard_s=float(number)))
        assert json.loads((tmp_path / "n0.json").read_text())["heard_s"] == number
    assert [path.name for path in tmp_path.iterdir()] == ["n0.json"]
    assert (tmp_path / "n0.json").stat().st_mode & 0o077 == 0


def test_it_is_written_soon_after_a_change_and_not_all_the_time(tmp_path):
    """At most every five seconds, and at the end."""
    notebook = Notebook(tmp_path)
    notebook.open("n0")
    written = []

    def state():
        written.append(True)
        return NodeState()

    for tenth in range(600):
        if tenth % 10 == 0:
            notebook.changed()
        notebook.write(state, tenth / 10)
    assert 10 <= len(written) <= 13
    notebook.write(state, 60.0, at_end=True)
    assert len(written) <= 14
    for second in range(61, 661):
        notebook.write(state, float(second))
    assert len(written) <= 16


def test_without_a_folder_nothing_is_read_or_written(tmp_path):
    """A recording is no node."""
    notebook = Notebook(None)
    assert notebook.open("n0") == NodeState()
    notebook.changed()
    notebook.write(lambda: pytest.fail("written"), 1e6, at_end=True)


# --- several monitors of one node -----------------------------------------------------------------


def saved(number, *, last_s, kind="GpuXid", acknowledged=False):
    """An incident on GPU-1 that is open."""
    one = replace(incident(number), kind=kind, cleared_s=None, acknowledged=acknowledged)
    return SavedIncident(one, key="31", last_s=last_s)


NOTHING = NodeState()


def both(tmp_path, before=NOTHING):
    """Two monitors that have read the same file."""
    StateFile(tmp_path, "n0").save(before)
    one, other = StateFile(tmp_path, "n0"), StateFile(tmp_path, "n0")
    assert one.load() == other.load() == before
    return one, other


def remembered(tmp_path):
    return StateFile(tmp_path, "n0").load()


def test_what_two_monitors_have_seen_is_remembered(tmp_path):
    """GPUs, open incidents and those that are over: whoever writes last takes nothing away."""
    one, other = both(tmp_path)
    gpus = (SeenGpu("GPU-1", 0, "0000:01:00", seen_s=1.0), SeenGpu("GPU-2", 1, seen_s=2.0))
    one.save(NodeState(gpus=gpus[:1], open=(saved(1, last_s=5.0),), cleared=(incident(3),)))
    lost = saved(2, last_s=6.0, kind="GpuLost")
    other.save(NodeState(gpus=gpus[1:], open=(lost,), cleared=(incident(4, "y"),)))
    state = remembered(tmp_path)
    assert set(state.gpus) == set(gpus)
    assert {one.incident.kind for one in state.open} == {"GpuXid", "GpuLost"}
    assert [one.opened_s for one in state.cleared] == [3.0, 4.0]


def test_what_both_noticed_is_one_incident(tmp_path):
    """With the earlier start; and acknowledged, if it is so for one of them."""
    one, other = both(tmp_path)
    one.save(NodeState(open=(saved(1, last_s=5.0, acknowledged=True),)))
    other.save(NodeState(open=(saved(2, last_s=6.0),)))
    (found,) = remembered(tmp_path).open
    assert found.last_s == 6.0
    assert (found.incident.opened_s, found.incident.acknowledged) == (1.0, True)


def test_what_one_of_them_ended_is_over(tmp_path):
    """The other, which has not noticed it since, does not bring it back."""
    before = NodeState(open=(saved(1, last_s=5.0),), gpus=(SeenGpu("GPU-1", 0, seen_s=1.0),))
    one, other = both(tmp_path, before)
    one.save(NodeState(cleared=(incident(1),)))
    assert remembered(tmp_path).gpus == ()
    assert remembered(tmp_path).open == ()
    one, other = both(tmp_path, before)
    one.save(before)
    other.save(NodeState(cleared=(replace(incident(1), cleared_s=7.0),)))
    state = remembered(tmp_path)
    assert (state.open, len(state.cleared)) == ((), 1)
    one.save(before)
    assert remembered(tmp_path).open == ()


def test_of_two_gpus_at_one_address_the_later_one_is_remembered(tmp_path):
    """The other was taken out, whoever has seen it."""
    one, other = both(tmp_path)
    one.save(NodeState(gpus=(SeenGpu("GPU-new", 0, "0000:01:00", seen_s=9.0),)))
    other.save(NodeState(gpus=(SeenGpu("GPU-old", 0, "0000:01:00", seen_s=3.0),)))
    assert [gpu.uuid for gpu in remembered(tmp_path).gpus] == ["GPU-new"]


def test_a_lock_that_somebody_keeps_is_not_waited_for(tmp_path):
    """Another time will do, and at the end what is to be remembered is written all the same."""
    file, _ = both(tmp_path)
    held = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    assert not file.save(NodeState(heard_s=4.0))
    assert remembered(tmp_path).heard_s == 0.0
    file.save(NodeState(heard_s=4.0), at_end=True)
    os.close(held)
    assert remembered(tmp_path).heard_s == 4.0


def test_many_monitors_at_once_lose_nothing(tmp_path):
    """Eight processes write ten times each; every incident of each is there in the end."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path;"
        "from tests_state import writes; writes(Path(sys.argv[2]), int(sys.argv[3]))"
    )
    helper = (
        "from dataclasses import replace\n"
        "from gputui.state import NodeState, StateFile\n"
        "from gputui.model import Action, Incident, Severity\n"
        "def one(who, n):\n"
        "    return Incident(f'{who}/{n}', 'GpuXid', f'gpu:{who}-{n}', 'n0', Severity.WARNING,\n"
        "        float(n), 'application', 'x', Action.RESTART_APP, 'restart', cleared_s=n + 1.0)\n"
        "def writes(folder, who):\n"
        "    file = StateFile(folder, 'n0')\n"
        "    known = file.load().cleared\n"
        "    for n in range(10):\n"
        "        known = (*known, one(who, n))\n"
        "        state = NodeState(cleared=known)\n"
        "        while not file.save(state):\n"
        "            pass\n"
    )
    (tmp_path / "tests_state.py").write_text(helper)
    folder = tmp_path / "state"
    children = [
        subprocess.Popen([sys.executable, "-c", program, tmp_path, folder, str(who)], cwd=ROOT)
        for who in range(8)
    ]
    assert [child.wait(60) for child in children] == [0] * 8
    assert len(StateFile(folder, "n0").load().cleared) == 80
