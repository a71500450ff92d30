"""The lines about the host and the network."""

from __future__ import annotations

from typing import Any

import pytest

from gputui.model import HostSample, LinkSample, TcpSample
from gputui.tui.frame import draw
from gputui.tui.scene import Scene

HOST = HostSample(
    cpu_percent=34.2,
    cpu_count=192,
    load_1m=65.0,
    memory_used_bytes=512 << 30,
    memory_total_bytes=2048 << 30,
    cpu_pressure_percent=2.0,
    memory_pressure_percent=0.0,
    io_pressure_percent=3.0,
    uptime_s=1_036_800.0,
)
PORT = LinkSample(
    "mlx5_0/1",
    kind="infiniband",
    state="active",
    speed_mbps=400_000,
    rx_bytes_per_s=12_300_000_000,
    tx_bytes_per_s=11_900_000_000,
)
TCP = TcpSample(time_s=0.0, connections=14, rtt_median_us=180, rtt_worst_us=2400, retransmits=0)


@pytest.fixture
def around(make: Any) -> Any:
    """The lines between the header and the GPUs, for given surroundings."""

    def lines(width: int, height: int, trouble: bool = False, **given: Any) -> list[str]:
        snapshot = make.trouble() if trouble else make.snapshot(processes=[make.process(1)])
        usual = {"host_readings": HOST, "links": (PORT,), "tcp": TCP}
        snapshot = make.around(snapshot, **{**usual, **given})
        frame = draw(Scene(snapshot=snapshot, now_s=make.now_s), width, height)
        texts = [line.text for line in frame.lines]
        assert {len(text) for text in texts} == {width}
        end = next(i for i, text in enumerate(texts) if "GPU" in text and "STATE" in text)
        return [text.rstrip() for text in texts[1:end]]

    return lines


def test_host_and_network_have_a_line_each(around: Any) -> None:
    """On a screen that is high enough: processors, memory, pressure; links, times, rates."""
    host, network = around(120, 40)
    for part in ("CPU 34% of 192", "memory 512/2048G", "pressure cpu 2% mem 0% io 3%", "load 65.0"):
        assert part in host
    for part in ("1 of 1 links up", "rtt 0.18/2.4ms", "rx/tx 12.3/11.9G"):
        assert part in network


def test_on_a_lower_screen_one_line_has_what_matters_most(around: Any) -> None:
    """At 80x24 processors, memory and links share a line; at 40x10 there is none."""
    (line,) = around(80, 24, trouble=True)
    for part in ("CPU 34% of 192", "memory 512/2048G", "1 of 1 links up"):
        assert part in line


def test_incidents_and_gpus_come_first(make: Any) -> None:
    """Where not even they fit, nothing is said of what stands around."""
    many = [make.incident(gpu=i) for i in range(8)]
    snapshot = make.around(make.snapshot(gpus=8, incidents=many), host_readings=HOST)
    frame = draw(Scene(snapshot=snapshot, now_s=make.now_s), 80, 20)
    assert "CPU" not in frame.lines[1].text


def test_a_link_that_is_down_is_named_and_marked(around: Any) -> None:
    """Also on the shortest line; and how many others there are."""
    down = LinkSample("mlx5_3/1", kind="infiniband", state="down")
    (line,) = around(80, 24, links=(PORT, down, down))
    assert "▲ mlx5_3/1 down +1" in line
    (line,) = around(100, 24, links=(PORT, down, down))
    assert "1 of 3 links up  ▲ mlx5_3/1 down +1" in line


def test_errors_that_grow_are_marked_and_congestion_is_not(around: Any) -> None:
    """Counters that grow on any busy network are no errors."""
    busy = LinkSample("mlx5_1/1", state="active", growth={"port_xmit_wait": 10**6}, growth_s=10)
    sick = LinkSample("mlx5_2/1", state="active", growth={"symbol_error": 12}, growth_s=10)
    _, network = around(120, 40, links=(busy,))
    assert "errors" not in network
    _, network = around(120, 40, links=(busy, sick))
    assert "▲ mlx5_2/1 +12 errors" in network


def test_traffic_is_counted_once(around: Any) -> None:
    """A bond and its interfaces carry the same bytes; so do RDMA ports and theirs."""
    bond = LinkSample("bond0", "bond", "up", rx_bytes_per_s=5_000_000, tx_bytes_per_s=2_000_000)
    part = LinkSample(
        "eth0", state="up", bond="bond0", rx_bytes_per_s=5_000_000, tx_bytes_per_s=2_000_000
    )
    _, network = around(120, 40, links=(bond, part))
    assert "rx/tx 5/2M" in network
    _, network = around(120, 40, links=(PORT, bond, part))
    assert "rx/tx 12.3/11.9G" in network


def test_what_is_missing_says_why(around: Any) -> None:
    """A kernel without pressure, a first reading: a word stands where the number would."""
    missing = dict.fromkeys(
        ("cpu_pressure_percent", "memory_pressure_percent", "io_pressure_percent"),
        "not supported by this kernel",
    )
    host = HostSample(missing={"cpu_percent": "needs two readings", **missing})
    line, *_ = around(120, 40, host_readings=host)
    assert "CPU wait" in line
    assert "pressure n/s" in line


def test_pressure_and_full_memory_are_marked(around: Any) -> None:
    """By a mark, not by colour alone."""
    host = HostSample(
        cpu_percent=1.0,
        memory_used_bytes=99 << 30,
        memory_total_bytes=100 << 30,
        memory_pressure_percent=25.0,
    )
    line, *_ = around(120, 40, host_readings=host)
    assert "memory 99/100G!" in line
    assert "mem 25%!" in line


def test_where_nothing_is_known_there_is_no_line(around: Any) -> None:
    """A stream of an older gputui has no host."""
    assert around(120, 40, host_readings=None) == []
