"""What stands around the GPUs goes out with each of their readings, whatever becomes of it."""

import io
import json
import os
import subprocess
import sys

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


def test_the_command_tells_what_a_root_has(tree, fake_nvml_path):
    """From the sampler's own process to the JSON: rates too, for two samples are taken."""
    (tree.root / "told.json").write_text('{"gpus": 2}')
    port = "sys/class/infiniband/mlx5_0/ports/1"
    tree.write(
        {
            "proc/loadavg": "3.10 2.20 1.30 2/345 6789",
            f"{port}/state": "4: ACTIVE",
            f"{port}/link_layer": "InfiniBand",
            f"{port}/rate": "400 Gb/sec (4X NDR)",
            f"{port}/counters/port_rcv_data": 5,
            f"{port}/counters/port_xmit_data": 5,
            f"{port}/counters/symbol_error": 7,
        }
    )
    done = subprocess.run(
        [sys.executable, "-m", "gputui", "--json"],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(fake_nvml_path), *sys.path)),
            "FAKE_NVML": str(tree.root / "told.json"),
            "GPUTUI_KERNEL_LOG": "none",
            "GPUTUI_ROOT": str(tree.root),
        },
        cwd=tree.root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=True,
    )
    shown = json.loads(done.stdout)
    (link,) = shown["links"]
    assert (link["name"], link["state"], link["lanes"]) == ("mlx5_0/1", "active", "4X NDR")
    assert (link["rx_bytes_per_s"], link["counters"]) == (0, {"symbol_error": 7})
    assert shown["host_readings"]["load_1m"] == 3.1
    assert shown["host_readings"]["missing"]["uptime_s"] == "not there"


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
