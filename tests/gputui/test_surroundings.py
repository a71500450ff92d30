"""What stands around the GPUs goes out with each of their readings, whatever becomes of it."""

import io
import json
import os

from gputui.model import LogLine, NodeSample, ProcessSample
from gputui.recording import CaptureWriter
from gputui.sources.host import HostReader
from gputui.sources.surroundings import Surrounded, Surroundings


def test_a_reading_goes_out_with_host_links_and_connections():
    """On this machine, over the wire's own format; log lines pass as they are."""
    wire = io.StringIO()
    out = Surrounded(CaptureWriter(wire), Surroundings())
    out.sample(NodeSample("n0", 1.0, processes=(ProcessSample(os.getpid(), 0),)))
    out.log(LogLine(1.0, "kernel", "hello"))
    _, sample, log = (json.loads(line) for line in wire.getvalue().splitlines())
    assert sample["host_readings"]["memory_total_bytes"] > 0
    assert isinstance(sample["links"], list)
    assert sample["tcp"]["time_s"] == 1.0
    assert log["text"] == "hello"


def test_a_node_whose_driver_fails_still_has_its_surroundings():
    """A dead driver is when the rest of the machine matters."""
    joined = Surroundings().joined(NodeSample("n0", 1.0, error="no driver"))
    assert joined.error == "no driver"
    assert joined.host_readings is not None
    assert joined.host_readings.uptime_s
    assert joined.tcp is None


def test_a_short_interval_does_not_read_them_more_often():
    """They are as they were less than half a second ago."""
    around = Surroundings()
    first, second = (around.joined(NodeSample("n0", time_s)) for time_s in (1.0, 1.1))
    assert first.host_readings is second.host_readings
    assert first.links is second.links


def test_links_that_cannot_be_listed_are_told_beside_the_host(tree):
    """None, and none that can be seen, are two things."""
    tree.write({"sys/class/net": "not a folder"})
    joined = Surroundings(tree.root).joined(NodeSample("n0", 1.0))
    assert joined.links == ()
    assert joined.host_readings.missing["links"] == "not there"


def test_a_mistake_in_reading_them_costs_no_reading_of_the_gpus(monkeypatch):
    """The GPUs' readings go out, with the reason in place of the surroundings."""

    def fail(_):
        raise TypeError("a mistake")

    monkeypatch.setattr(HostReader, "read", fail)
    joined = Surroundings().joined(NodeSample("n0", 1.0, gpu_count=8))
    assert joined.gpu_count == 8
    assert joined.host_readings.missing["load_1m"] == "TypeError: a mistake"
