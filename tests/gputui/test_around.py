"""The machine around the GPUs in the outputs: briefly while all is well, by name what is not."""

from dataclasses import replace

import pytest

from gputui.export import brief, table
from gputui.model import HostSample, LinkSample, ProcessSample, Snapshot, TcpSample

GIB = 1 << 30

HOST = HostSample(
    cpu_percent=12.4, cpu_count=64, load_1m=3.14, memory_used_bytes=220 * GIB,
    memory_total_bytes=1007 * GIB, cpu_pressure_percent=0.1, memory_pressure_percent=0.0,
    io_pressure_percent=12.0, uptime_s=12 * 86_400.0,
)  # fmt: skip


def port(number, **changed):
    values = {
        "kind": "infiniband", "state": "active", "physical_state": "linkup", "speed_mbps": 400_000,
        "rx_bytes_per_s": 12_000_000_000, "tx_bytes_per_s": 11_000_000_000, **changed,
    }  # fmt: skip
    return LinkSample(f"mlx5_{number}/1", **values)


@pytest.fixture
def shown(make):
    """Writes a healthy node with these surroundings, and says what a table and a line show."""

    def show(**around):
        sample = replace(make.node(1000.0, count=0), **around)
        snapshot = Snapshot(sample, ())
        return table.write(snapshot), brief.write(snapshot)

    return show


def test_a_healthy_machine_takes_two_lines(shown):
    """One for the host, one for all its links."""
    text, line = shown(host_readings=HOST, links=(port(0), port(1)))
    assert text.splitlines()[1:] == [
        "HOST   CPU 12% of 64  load 3.1  memory 220.0/1007.0 GiB  "
        "pressure cpu 0% memory 0% io 12%  up 12d",
        "LINKS  2/2 up  2x infiniband 400 Gb/s  rx 24.0 tx 22.0 GB/s",
    ]
    assert line.endswith("cpu 12%  links 2/2 up\n")


def test_each_link_with_trouble_has_a_line_of_its_own(shown):
    """Down with how far it is, or up with what grew; congestion is no trouble."""
    links = (
        port(0),
        port(1, state="down", physical_state="polling", speed_mbps=None),
        port(2, growth={"symbol_error": 3, "np_cnp_sent": 9}, growth_s=5.0),
        port(3, growth={"np_cnp_sent": 9}, growth_s=5.0),
        LinkSample("eth0", missing={"state": "no permission"}),
    )
    text, line = shown(links=links)
    assert text.splitlines()[2:] == [
        "       mlx5_1/1 infiniband down (polling)",
        "       mlx5_2/1 infiniband active symbol_error +3 in 5s",
        "       eth0 ethernet ? (no permission)",
    ]
    assert line.endswith("links 3/5 up\n")


def test_many_troubled_links_are_cut_with_their_number(shown):
    """A switch that is down takes all links; the table stays a page."""
    text, _ = shown(links=tuple(port(number, state="down") for number in range(20)))
    assert "... and 12 more" in text


def test_a_bond_is_not_counted_twice(shown):
    """What goes over a bond goes over its members."""
    member = {"state": "up", "kind": "ethernet", "rx_bytes_per_s": 10**9, "tx_bytes_per_s": 0}
    bond = LinkSample("bond0", **{**member, "kind": "bond"})
    text, _ = shown(links=(bond, LinkSample("eth0", bond="bond0", **member)))
    assert "rx 1.0 tx 0.0 GB/s" in text


def test_connections_are_told_with_the_worst_of_them(shown):
    """In milliseconds, with whom, and what had to be sent again."""
    tcp = TcpSample(
        1.0, connections=24, rtt_median_us=42, rtt_worst_us=120_500,
        worst_peer="10.0.0.7:29500", retransmits=3,
    )  # fmt: skip
    text, _ = shown(tcp=tcp)
    assert (
        "TCP    24 connections of GPU processes  round trip 0.04 ms, "
        "worst 120 ms to 10.0.0.7:29500  3 segments sent again"
    ) in text


def test_what_is_missing_is_left_out(shown):
    """No reading, no words: a table is for reading; the reasons are in the JSON."""
    empty = HostSample(missing={"cpu_percent": "needs two readings"})
    text, line = shown(host_readings=empty, tcp=TcpSample(1.0, connections=0))
    assert len(text.splitlines()) == 1
    assert "cpu" not in line


def test_jobs_have_a_column_where_somebody_has_one(shown):
    """A node without a scheduler does not show an empty one."""
    one = ProcessSample(7, 0, memory_bytes=GIB, cpu_percent=99.6, running_s=120.0, command="train")
    without, _ = shown(processes=(one,))
    titled, _ = shown(processes=(one, replace(one, pid=8, job="4711")))
    assert "JOB" not in without
    assert without.splitlines()[-1].split() == [
        "7",
        "-",
        "0",
        "-",
        "1.0",
        "100%",
        "?",
        "2m",
        "train",
    ]
    assert titled.splitlines()[-1].split()[3] == "4711"
