"""The machine around the GPUs: its CPUs, memory, pressure and load, and why one is missing."""

import os
from dataclasses import fields
from pathlib import Path

import pytest

from gputui.model import HostSample
from gputui.sources.host import NO_PRESSURE, TWO_NEEDED, HostReader

PRESSURE = (
    "some avg10={} avg60=1.00 avg300=2.00 total=3\nfull avg10=9.00 avg60=9.00 avg300=9.00 total=9"
)
KIB = 1024


@pytest.fixture
def host(tree):
    """A machine of four CPUs."""
    tree.write(
        {
            "proc/stat": cpu(100, 0, 50, 800, 50),
            "proc/loadavg": "3.10 2.20 1.30 2/345 6789",
            "proc/meminfo": "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 600 kB\nBuffers: 7 kB",
            "proc/pressure/cpu": PRESSURE.format("0.12"),
            "proc/pressure/memory": PRESSURE.format("3.40"),
            "proc/pressure/io": PRESSURE.format("56.00"),
            "proc/uptime": "12345.67 99999.99",
            "proc/sys/kernel/random/boot_id": "5ae42f4c-3e78-4b22-83e5-f113e032be6b",
            "sys/class/hwmon/hwmon1/temp1_label": "CPU0 Temp",
            "sys/class/hwmon/hwmon1/temp1_input": "61000",
            "sys/class/hwmon/hwmon3/temp2_label": "Inlet Temp",
            "sys/class/hwmon/hwmon3/temp2_input": "23500",
        }
    )
    return tree


def cpu(*ticks):
    """A /proc/stat; what is not given is 0."""
    every = " ".join(str(one) for one in (*ticks, *[0] * (10 - len(ticks))))
    return "\n".join(
        [f"cpu  {every}", *(f"cpu{n} {every}" for n in range(4)), "intr 1 2", "ctxt 3"]
    )


def test_the_host_is_read_in_full(host):
    """Each reading stands in its own field, in its own unit."""
    sample = HostReader(host.root).read()
    assert (sample.load_1m, sample.load_5m, sample.load_15m) == (3.1, 2.2, 1.3)
    assert (sample.memory_used_bytes, sample.memory_total_bytes) == (400 * KIB, 1000 * KIB)
    assert (
        sample.cpu_pressure_percent,
        sample.memory_pressure_percent,
        sample.io_pressure_percent,
    ) == (0.12, 3.4, 56.0)
    assert (sample.uptime_s, sample.cpu_count) == (12345.67, 4)
    assert sample.inlet_c == 23.5
    assert sample.boot_id == "5ae42f4c-3e78-4b22-83e5-f113e032be6b"


def test_the_cpus_share_is_of_the_time_between_two_readings(host):
    """The first reading has nothing to compare with; idle and I/O wait are not busy."""
    reader = HostReader(host.root)
    assert reader.read().missing == {"cpu_percent": TWO_NEEDED}
    # user +20, nice +5, system +5, idle +50, I/O wait +10, stolen +10
    host.write({"proc/stat": cpu(120, 5, 55, 850, 60, 0, 0, 10)})
    sample = reader.read()
    assert (sample.cpu_percent, sample.missing) == (40.0, {})


def test_time_of_guests_is_not_counted_twice(host):
    """The ninth and tenth numbers are part of the first two (proc(5))."""
    reader = HostReader(host.root)
    reader.read()
    host.write({"proc/stat": cpu(150, 0, 50, 850, 50, 0, 0, 0, 50)})
    assert reader.read().cpu_percent == 50.0


def test_idle_time_that_steps_back_makes_no_share_above_100(host):
    """The kernel's idle times may shrink a little."""
    reader = HostReader(host.root)
    reader.read()
    host.write({"proc/stat": cpu(200, 0, 50, 799, 50)})
    assert reader.read().cpu_percent == 100.0


def test_two_readings_at_one_moment_say_so(host):
    """No time, no share, and no division by zero."""
    reader = HostReader(host.root)
    reader.read()
    assert reader.read().missing == {"cpu_percent": "no time has passed"}


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("proc/stat", {"cpu_percent", "cpu_count"}),
        ("proc/loadavg", {"load_1m", "load_5m", "load_15m"}),
        ("proc/meminfo", {"memory_used_bytes", "memory_total_bytes"}),
        ("proc/uptime", {"uptime_s"}),
        ("proc/sys/kernel/random/boot_id", {"boot_id"}),
    ],
)
def test_a_file_that_is_not_there_costs_its_own_readings(host, path, names):
    """Everything else is told all the same."""
    reader = HostReader(host.root)
    reader.read()
    host.write({"proc/stat": cpu(200, 0, 50, 850, 50)})
    host.remove(path)
    sample = HostReader(host.root).read() if "boot" in path else reader.read()
    assert {name for name, why in sample.missing.items() if why == "not there"} == names
    assert all(getattr(sample, name) is None for name in names)


def test_a_kernel_without_pressure_says_how_to_have_it(host):
    """No folder at all: a kernel that does not measure it, or is told not to."""
    host.remove("proc/pressure")
    sample = HostReader(host.root).read()
    assert sample.io_pressure_percent is None
    assert sample.missing["io_pressure_percent"] == NO_PRESSURE
    assert sample.load_1m == 3.1


@pytest.mark.parametrize(
    ("path", "content", "name"),
    [
        ("proc/loadavg", "busy", "load_1m"),
        ("proc/loadavg", "", "load_1m"),
        ("proc/meminfo", "MemTotal: 5 kB", "memory_used_bytes"),
        ("proc/pressure/io", "full avg10=1.00", "io_pressure_percent"),
        ("proc/stat", b"cpu x\xff y", "cpu_percent"),
        ("proc/uptime", "", "uptime_s"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_garbage(host, path, content, name):
    """What stood there is told, and nothing is made up from it."""
    host.write({path: content})
    sample = HostReader(host.root).read()
    assert getattr(sample, name) is None
    assert sample.missing[name].startswith("garbage: ")


def test_a_file_that_may_not_be_read_says_so(host, unprivileged):
    """No permission is a reason of its own."""
    host.lock("proc/loadavg")
    with unprivileged():
        assert HostReader(host.root).read().missing["load_1m"] == "no permission"


def test_whatever_is_missing_says_why(tree):
    """On a root with nothing in it, every field has a reason."""
    sample = HostReader(tree.root).read()
    assert sample.missing.keys() == {one.name for one in fields(HostSample)} - {"missing"}


def test_this_machine_is_plausible():
    """What the real kernel tells is in the range that it can be."""
    reader = HostReader()
    reader.read()
    until = os.times().elapsed + 0.05
    while os.times().elapsed < until:
        pass
    sample = reader.read()
    assert sample.cpu_percent is not None
    assert 0 <= sample.cpu_percent <= 100
    assert 0 < sample.memory_used_bytes < sample.memory_total_bytes
    assert sample.cpu_count >= len(os.sched_getaffinity(0))
    assert sample.uptime_s > 0
    assert sample.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    for name in ("cpu", "memory", "io"):
        field = f"{name}_pressure_percent"
        share = getattr(sample, field)
        assert sample.missing[field] if share is None else 0 <= share <= 100


def test_an_inlet_that_nobody_measures_says_so(host):
    """A machine without such a sensor, one whose sensor reads nonsense, and one that went."""
    host.write({"sys/class/hwmon/hwmon3/temp2_input": "999000"})
    reader = HostReader(host.root)
    assert reader.read().missing["inlet_c"] == "garbage: 999 C"
    host.write({"sys/class/hwmon/hwmon3/temp2_input": "-5000"})
    assert reader.read().inlet_c == -5.0
    host.remove("sys/class/hwmon/hwmon3")
    assert reader.read().missing["inlet_c"] == "not there"
    assert HostReader(host.root).read().missing["inlet_c"] == "no sensor of the machine tells it"


def test_an_ambient_sensor_stands_in_for_the_inlets(host):
    """Vendors call it either way; an inlet's own is preferred."""
    host.write(
        {
            "sys/class/hwmon/hwmon0/temp9_label": "Ambient",
            "sys/class/hwmon/hwmon0/temp9_input": "21000",
        }
    )
    assert HostReader(host.root).read().inlet_c == 23.5
    host.remove("sys/class/hwmon/hwmon3")
    assert HostReader(host.root).read().inlet_c == 21.0


def test_a_file_that_the_environment_names_tells_of_the_inlet(host, monkeypatch):
    """What a site's own script asked the service processor for, in degrees."""
    monkeypatch.setenv("GPUTUI_INLET", str(host.root / "inlet"))
    host.write({"inlet": "31.5"})
    reader = HostReader(host.root)
    assert reader.read().inlet_c == 31.5
    host.write({"inlet": "warm"})
    assert reader.read().missing["inlet_c"].startswith("garbage")
