"""The reader on the real binding, nvidia-ml-py, whose answers come from a fake node."""

import json
import subprocess
import sys
from pathlib import Path

import pynvml
import pytest

from fakes.driver.xid import raise_xid
from fakes.hardware.gpu import Identity, Lookup
from fakes.jobs.process import JobSpec
from fakes.node import Node
from fakes.nvml.answer import answer
from fakes.nvml.inprocess import installed
from fakes.profile import load_profile
from fakes.world import World
from gputui.assess import Assessor
from gputui.logs.kernel import KernelParser
from gputui.logs.nvml import xid_line
from gputui.sources.nvml import NvmlReader
from gputui.sources.reasons import is_failure

ROOT = Path(__file__).parents[2]
GPUCHAOS = (sys.executable, "-m", "chaos")
GPUTUI = (sys.executable, "-m", "gputui")


class Watched:
    """A fake node, read second by second, with its kernel log."""

    def __init__(self, make_node) -> None:
        self.node = make_node
        self.world = World([self.node])
        self.seconds = 0
        self.reader = NvmlReader(pynvml, host="n0")
        self.assessor = Assessor(interval_s=1.0)
        self._parser = KernelParser()
        self.node.kernel_log.listen(self._hear)

    @property
    def now_us(self) -> int:
        return self.seconds * 1_000_000

    def _hear(self, line) -> None:
        event = self._parser.parse(line.text, line.at_us / 1e6)
        if event is not None:
            self.assessor.log(event)

    def watch(self, seconds=1):
        for _ in range(seconds):
            self.seconds += 1
            self.world.advance(self.now_us)
            while self.reader.read_slow():
                pass
            snapshot = self.assessor.sample(self.reader.read(float(self.seconds)))
        return snapshot


@pytest.fixture
def watched():
    node = Node("n0", load_profile("h100-sxm"), 8)
    node.start_job(JobSpec("train", tuple(range(8))), 0)
    node.settle(0)
    one = Watched(node)
    with installed(lambda call: answer(one.node, call, one.now_us)):
        yield one


def states(snapshot):
    return [status.state.value for status in snapshot.statuses]


def test_a_healthy_node_is_read_without_a_failure(watched):
    """Every reading is there, or is known not to exist on this model."""
    snapshot = watched.watch(10)
    assert states(snapshot) == ["ok"] * 8
    assert snapshot.incidents == ()
    for gpu in snapshot.sample.gpus:
        assert not [reason for reason in gpu.missing.values() if is_failure(reason)]
        assert gpu.name == "NVIDIA H100 80GB HBM3"
        assert gpu.utilization_percent is not None
        assert gpu.pcie_rx_bytes_per_s is not None
    assert len(snapshot.sample.processes) == 8
    assert {process.sm_percent is None for process in snapshot.sample.processes} == {False}


@pytest.mark.parametrize("lookup", list(Lookup))
@pytest.mark.parametrize("identity", list(Identity))
def test_xid_79_is_one_lost_gpu_however_it_shows(watched, lookup, identity):
    """Whatever the driver still answers, it is LOST within two samples, with one incident."""
    watched.watch(3)
    gpu = watched.node.gpus[5]
    raise_xid(watched.node, gpu, 79, watched.now_us, lookup=lookup, identity=identity)
    snapshot = watched.watch(2)
    assert states(snapshot) == ["ok"] * 5 + ["lost"] + ["ok"] * 2
    roots = [incident for incident in snapshot.incidents if incident.parent is None]
    assert [(one.kind, one.gpu, one.cause) for one in roots] == [("GpuLost", 5, "bus")]


def test_a_blocked_airway_throttles_one_gpu_for_its_heat_sink(watched):
    """From the readings alone: the clocks, the reason, and whom it is."""
    watched.watch(3)
    watched.node.gpus[3].set_airflow(0.1, watched.now_us)
    snapshot = watched.watch(300)
    assert states(snapshot)[3] == "throttled"
    assert [(one.kind, one.gpu, one.cause) for one in snapshot.incidents] == [
        ("GpuThermalThrottle", 3, "heat-sink")
    ]


def test_growing_memory_is_foreseen_before_it_is_full(watched):
    """The warning comes with time to spare."""
    watched.watch(3)
    gpu = watched.node.gpus[1]
    pid = next(iter(gpu.uses))
    gpu.grow(pid, 100 << 20, watched.now_us)
    for _ in range(200):
        snapshot = watched.watch()
        if snapshot.incidents:
            break
    (incident,) = snapshot.incidents
    assert (incident.kind, incident.gpu, incident.cause) == ("GpuMemoryPressure", 1, "leak")
    used = snapshot.sample.gpus[1].memory_used_bytes
    total = snapshot.sample.gpus[1].memory_total_bytes
    assert used < 0.95 * total


def test_nvml_itself_tells_xids_to_who_may_not_read_the_log(watched):
    """Event sets of the real binding: the code and the GPU, once each, in order."""
    watched.watch(3)
    assert watched.reader.read_events(3.0) == []
    raise_xid(watched.node, watched.node.gpus[3], 31, watched.now_us)
    raise_xid(watched.node, watched.node.gpus[5], 94, watched.now_us)
    buses = {gpu.index: gpu.bus_id for gpu in watched.watch().sample.gpus}
    lines = watched.reader.read_events(4.0)
    assert [line.text for line in lines] == [xid_line(buses[3], 31), xid_line(buses[5], 94)]
    assert watched.reader.read_events(5.0) == []


def test_everything_that_changes_seldom_is_read_on_a_healthy_node(watched):
    """What this model has is there, with what a healthy one says."""
    gpu = watched.watch(3).sample.gpus[2]
    assert (gpu.recovery_action, gpu.remap_failed, gpu.ecc_enabled) == (0, False, True)
    assert (gpu.pcie_generation, gpu.pcie_width, gpu.pcie_replays) == (5, 16, 0)
    assert (gpu.nvlinks, gpu.nvlinks_down) == (18, ())
    assert gpu.memory_temperature_c > 20
    assert gpu.fabric_state == "completed"
    assert gpu.serial
    assert gpu.vbios
    assert gpu.missing["retired_pages_double_bit"] == "not supported"


def test_a_reset_that_is_required_is_told(watched):
    """An uncontained error asks for a reset; that, and the error's Xid, hang under it."""
    watched.watch(3)
    raise_xid(watched.node, watched.node.gpus[2], 95, watched.now_us)
    snapshot = watched.watch(2)
    assert states(snapshot)[2] == "reset_needed"
    error, *consequences = snapshot.incidents
    assert (error.kind, error.cause) == ("EccUncorrectable", "uncontained")
    assert sorted(one.kind for one in consequences) == ["GpuResetRequired", "GpuXid"]
    assert {one.parent for one in consequences} == {error.id}


def test_an_xid_is_seen_by_who_may_not_read_the_kernel_log(fake_node):
    """On a node of its own, through the library: the event comes as a line, and is an incident."""
    node = fake_node("h100-sxm", "--gpus", "2")
    argv = [*GPUTUI, "--stream", "--kernel-log", "none", "--interval", "200ms"]
    with subprocess.Popen(
        [*GPUCHAOS, "enter", "--", *argv],
        cwd=ROOT, env=node.env, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
    ) as stream:  # fmt: skip
        assert stream.stdout is not None
        records = map(json.loads, stream.stdout)
        assert next(one for one in records if one["event"] == "sample")["gpu_count"] == 2
        node.inject("xid", "gpu=1", "code=31")
        lines = (one for one in records if one["event"] == "log")
        line = next(one for one in lines if one["source"] == "nvml")  # its job may speak as well
        assert "Xid 31 on" in line["text"]
        incidents = (one["incident"] for one in records if one["event"] == "incident")
        assert any((one["kind"], one["gpu"]) == ("GpuXid", 1) for one in incidents)
        stream.terminate()
