"""What gputui says of a driver that is not there, does not fit, hangs, or answers rubbish."""

from __future__ import annotations

import pynvml
import pytest

from fakes.nvml.answer import answer
from fakes.nvml.inprocess import installed
from gputui.assess import Assessor
from gputui.model import Action, GpuState, Severity
from gputui.sources.nvml import NvmlReader

PATIENCE_S = 3
"""How long a call may take before it is said to hang."""


def roots(run):
    return [(one.kind, one.subject, one.cause) for one in run.incidents if one.parent is None]


def states(run):
    return [status.state for status in run.watching.nodes["n0"].snapshot.statuses]


def seen_anew(run, tmp_path):
    """What a gputui says that begins now: its first snapshot."""
    with installed(lambda call: answer(run.node, call, run.world.now_us)):
        sample = NvmlReader(pynvml, host="n0", root=tmp_path).read(100.0)
        return sample, Assessor(interval_s=1.0).sample(sample)


class TestDriver:
    def test_libraries_that_were_replaced(self, watched, tmp_path):
        """The module's own words name both versions; who watches already goes on watching."""
        run = watched().run(10)
        fault = run.inject("driver", node="n0", mismatch="575.51.03")
        told = run.run(3).the("DriverMismatch")
        assert told.took_s <= 1
        assert (told.incident.subject, told.incident.cause) == ("node:n0", "versions")
        assert "library 575.51.03, kernel module 570.124.06" in told.incident.cause_text
        assert told.incident.action is Action.RELOAD_DRIVER
        assert "modprobe nvidia" in told.incident.action_text
        assert run.kinds() == ["DriverMismatch"]
        run.heal(fault.id)
        assert run.run(620).incidents == ()

    def test_who_begins_after_that_is_refused(self, watched, tmp_path):
        """NVML's code 18 is the same incident."""
        run = watched().run(10)
        run.inject("driver", node="n0", mismatch="575.51.03")
        sample, snapshot = seen_anew(run, tmp_path)
        assert sample.error_code == 18
        assert [(one.kind, one.cause) for one in snapshot.incidents] == [
            ("DriverMismatch", "versions")
        ]

    def test_a_driver_that_is_not_loaded(self, watched):
        """One incident of the node, at once; healing clears it."""
        run = watched().run(10)
        fault = run.inject("driver", node="n0", unload="true")
        told = run.run(3).the("DriverNotLoaded")
        assert told.took_s <= 1
        assert roots(run) == [("DriverNotLoaded", "node:n0", "configuration")]
        assert "modprobe nvidia" in told.incident.action_text
        assert set(states(run)) == {GpuState.STALE}
        run.heal(fault.id)
        assert run.run(10).incidents == ()

    def test_another_version_is_no_incident(self, watched):
        """A proper update: the next reading has the new version."""
        run = watched().run(10)
        run.inject("driver", node="n0", version="575.51.03")
        assert run.run(10).incidents == ()

    def test_a_container_that_lost_its_devices(self, watched):
        """Unknown error, and no device files: the container, not the GPUs."""
        run = watched().run(10)
        fault = run.inject("container", node="n0", cgroup="lost")
        told = run.run(3).the("ContainerLostGpu")
        assert told.took_s <= 3
        assert roots(run) == [("ContainerLostGpu", "node:n0", "cgroup")]
        assert "restart the container" in told.incident.action_text
        run.heal(fault.id)
        assert run.run(30).incidents == ()


class TestHang:
    def test_one_gpu(self, watched):
        """It is HUNG, the others go on."""
        run = watched().run(10)
        fault = run.inject("hang", gpu=3)
        told = run.run(5).the("GpuHung")
        assert told.took_s <= PATIENCE_S
        assert (told.incident.gpu, told.incident.cause) == (3, "driver")
        assert run.kinds() == ["GpuHung"]
        assert states(run) == [GpuState.OK] * 3 + [GpuState.HUNG] + [GpuState.OK] * 4
        run.heal(fault.id)
        assert run.run(10).incidents == ()
        assert set(states(run)) == {GpuState.OK}

    def test_the_whole_driver(self, watched):
        """Nobody answers: one incident of the node."""
        run = watched().run(10)
        fault = run.inject("hang", gpu=3, scope="driver")
        told = run.run(5).the("GpuHung")
        assert told.took_s <= PATIENCE_S
        assert roots(run) == [("GpuHung", "node:n0", "driver")]
        run.heal(fault.id)
        assert run.run(10).incidents == ()

    def test_a_hang_of_the_system_processor_is_firmware(self, watched):
        """Where an Xid 119 says so."""
        run = watched().run(10)
        run.inject("xid", gpu=3, code=119, log_only="true")
        run.inject("hang", gpu=3)
        assert run.run(5).the("GpuHung").incident.cause == "firmware"
        assert run.kinds() == ["GpuHung"]

    def test_slow_calls_are_waited_for(self, watched):
        """A call that takes half a second is no incident."""
        run = watched().run(10)
        run.inject("latency", gpu="n0/*", each="500ms")
        assert run.run(30).incidents == ()


class TestNvml:
    @pytest.mark.parametrize(
        ("init", "code", "kind"),
        [
            ("driver-not-loaded", 9, "DriverNotLoaded"),
            ("version-mismatch", 18, "DriverMismatch"),
            ("unknown", 999, "ContainerLostGpu"),
            ("no-permission", 4, "ContainerLostGpu"),
            ("operating-system", 17, None),
            ("blocks", 10, "GpuHung"),
        ],
    )
    def test_the_way_in_may_be_closed(self, watched, tmp_path, init, code, kind):
        """Who watches already sees nothing of it; who begins is told why."""
        run = watched().run(10)
        fault = run.inject("nvml", node="n0", init=init)
        assert run.run(10).incidents == ()
        sample, snapshot = seen_anew(run, tmp_path)
        assert sample.error_code == code
        assert [one.kind for one in snapshot.incidents] == ([kind] if kind else [])
        run.heal(fault.id)
        sample, _ = seen_anew(run, tmp_path)
        assert sample.error is None

    @pytest.mark.parametrize("reading", ["power", "utilization", "clocks", "memory"])
    @pytest.mark.parametrize("fault", ["reading", "garbage"])
    def test_one_reading_that_fails(self, watched, fault, reading):
        """The GPU is degraded and says which reading; the others are as they were."""
        run = watched().run(10)
        active = run.inject("nvml", gpu=2, **{fault: reading})
        run.run(5)
        assert [one for one in run.incidents if one.severity > Severity.INFO] == []
        assert states(run) == [GpuState.OK] * 2 + [GpuState.DEGRADED] + [GpuState.OK] * 5
        run.heal(active.id)
        run.run(5)
        assert set(states(run)) == {GpuState.OK}

    def test_one_hiccup_is_nothing(self, watched):
        """A GPU that answers "unknown error" to everything, for one reading."""
        run = watched().run(10)
        for reading in ("power", "temperature", "utilization", "clocks", "memory", "ecc"):
            run.inject("nvml", gpu=2, reading=reading, for_s=0.9)
        assert [one for one in run.run(30).incidents if one.severity > Severity.INFO] == []
