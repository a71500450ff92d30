"""The links that training uses: their state, their traffic, their errors, and one that goes."""

import pytest

from gputui.sources.link import SELDOM_S
from gputui.sources.network import LinkReader
from gputui.sources.reasons import GONE

SELDOM = int(SELDOM_S)
PORT = "sys/class/infiniband/mlx5_0/ports/1"
NIC = "sys/class/net/eth0"

ERRORS = (
    "symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors", "port_xmit_discards",
    "local_link_integrity_errors", "excessive_buffer_overrun_errors",
)  # fmt: skip


def rdma_port(at=PORT, **changed):
    """The files of a port, as a ConnectX-7 has them."""
    files = {
        "state": "4: ACTIVE",
        "phys_state": "5: LinkUp",
        "link_layer": "InfiniBand",
        "rate": "400 Gb/sec (4X NDR)",
        "counters/port_rcv_data": 0,
        "counters/port_xmit_data": 0,
        **{f"counters/{name}": 0 for name in ERRORS},
        **changed,
    }
    return {f"{at}/{name}": content for name, content in files.items()}


def interface(name="eth0", **changed):
    """The files of a network interface with a device."""
    counters = ("dropped", "errors", "bytes")
    files = {
        "operstate": "up",
        "carrier": 1,
        "carrier_changes": 2,
        "speed": 25000,
        "flags": "0x1003",
        "type": 1,
        "device/vendor": "0x15b3",
        "statistics/rx_missed_errors": 0,
        "statistics/rx_crc_errors": 0,
        **{f"statistics/{way}_{what}": 0 for way in ("rx", "tx") for what in counters},
        **changed,
    }
    return {f"sys/class/net/{name}/{file}": content for file, content in files.items()}


def names(links):
    return [link.name for link in links]


class Watch:
    """A tree's links, read once a second."""

    def __init__(self, tree):
        self.reader = LinkReader(tree.root)
        self.now_s = 100.0

    def read(self, times=1):
        for _ in range(times):
            links = self.reader.read(self.now_s)
            self.now_s += 1.0
        return links


@pytest.fixture
def watch(tree):
    return Watch(tree)


def test_an_infiniband_port_is_read_in_full(tree, watch):
    """State, speed, lanes and traffic; the traffic's counters are of four octets each."""
    tree.write(rdma_port())
    (port,) = watch.read()
    assert (port.name, port.kind, port.state, port.physical_state) == (
        "mlx5_0/1", "infiniband", "active", "linkup",
    )  # fmt: skip
    assert (port.speed_mbps, port.lanes, port.is_up) == (400_000, "4X NDR", True)
    assert port.missing["rx_bytes_per_s"] == "needs two readings"
    tree.write({f"{PORT}/counters/port_rcv_data": 250, f"{PORT}/counters/port_xmit_data": 500})
    (port,) = watch.read()
    assert (port.rx_bytes_per_s, port.tx_bytes_per_s) == (1000, 2000)


def test_errors_are_told_by_name_with_how_much_they_grew(tree, watch):
    """Totals that are not zero, and the growth since they were read before."""
    tree.write(rdma_port(**{"counters/symbol_error": 7}))
    (port,) = watch.read()
    assert (port.counters, port.growth, port.growth_s) == ({"symbol_error": 7}, {}, None)
    tree.write({f"{PORT}/counters/symbol_error": 10, f"{PORT}/counters/link_downed": 1})
    (port,) = watch.read(SELDOM)
    assert port.counters == {"symbol_error": 10, "link_downed": 1}
    assert port.growth == port.new_errors == {"symbol_error": 3, "link_downed": 1}
    assert port.growth_s is not None
    assert 1 <= port.growth_s <= SELDOM


def test_a_reset_of_the_counters_is_no_flood_of_errors(tree, watch):
    """Counters that begin anew have grown to where they stand, not by four thousand million."""
    tree.write(rdma_port(**{"counters/symbol_error": 900, "counters/port_rcv_data": 1 << 40}))
    watch.read()
    tree.write({f"{PORT}/counters/symbol_error": 2, f"{PORT}/counters/port_rcv_data": 25})
    (port,) = watch.read()
    assert port.rx_bytes_per_s == 100
    (port,) = watch.read(SELDOM - 1)
    assert port.growth == {"symbol_error": 2}


def test_traffic_that_wraps_at_32_bits_keeps_its_rate(tree, watch):
    """Adapters without the extended counters count in 32 bits."""
    tree.write(rdma_port())
    tree.write(interface(**{"statistics/rx_bytes": (1 << 32) - 1000}))
    watch.read()
    tree.write({f"{NIC}/statistics/rx_bytes": 500})
    _, nic = watch.read()
    assert nic.rx_bytes_per_s == 1500


def test_a_counter_at_its_maximum_says_that_it_stands(tree, watch):
    """The specification's narrow counters stop at all ones; silence there is not health."""
    tree.write(rdma_port(**{"counters/link_downed": 255, "counters/symbol_error": 255}))
    (port,) = watch.read()
    assert port.missing["link_downed"] == "stands at 255, its maximum, until it is reset"
    assert "symbol_error" not in port.missing


def test_a_port_that_goes_down_says_how_far_it_still_is(tree, watch):
    """State at the next reading; its speed is not the slowest that the kernel then tells."""
    tree.write(rdma_port())
    watch.read()
    tree.write(
        {
            f"{PORT}/state": "1: DOWN",
            f"{PORT}/phys_state": "2: Polling",
            f"{PORT}/rate": "10 Gb/sec (4X SDR)",
        }
    )
    (port,) = watch.read()
    assert (port.state, port.physical_state, port.is_up) == ("down", "polling", False)
    (port,) = watch.read(SELDOM)
    assert (port.speed_mbps, port.missing["speed_mbps"]) == (None, "the link is not up")


def test_a_port_that_trained_to_fewer_lanes_says_so(tree, watch):
    """A bad cable shows in the lanes before it shows in errors."""
    tree.write(rdma_port(rate="2.5 Gb/sec (1X SDR)"))
    (port,) = watch.read()
    assert (port.speed_mbps, port.lanes) == (2500, "1X SDR")


def test_rdma_over_ethernet_tells_its_interface_and_keeps_congestion_apart(tree, watch):
    """The drivers' own counters are errors, or marks of congestion, which are no errors."""
    tree.write(
        rdma_port(
            link_layer="Ethernet",
            **{
                "gid_attrs/ndevs/0": "eth2",
                "hw_counters/np_cnp_sent": 10,
                "hw_counters/out_of_sequence": 4,
                "hw_counters/lifespan": 10,
                "hw_counters/rx_read_requests": 9,
            },
        )
    )
    (port,) = watch.read()
    assert (port.kind, port.interface) == ("roce", "eth2")
    assert port.counters == {"np_cnp_sent": 10, "out_of_sequence": 4}
    tree.write({f"{PORT}/hw_counters/np_cnp_sent": 15, f"{PORT}/hw_counters/out_of_sequence": 5})
    (port,) = watch.read(SELDOM)
    assert port.growth == {"np_cnp_sent": 5, "out_of_sequence": 1}
    assert port.new_errors == {"out_of_sequence": 1}


def test_an_adapter_without_the_common_counters_is_read_by_its_own(tree, watch):
    """EFA counts its octets among the driver's own counters, and its link layer has no name."""
    tree.write(rdma_port(link_layer="Unspecified"))
    tree.remove(f"{PORT}/counters")
    tree.write({f"{PORT}/hw_counters/rx_bytes": 0, f"{PORT}/hw_counters/tx_bytes": 0})
    watch.read()
    tree.write({f"{PORT}/hw_counters/rx_bytes": 300, f"{PORT}/hw_counters/tx_bytes": 700})
    (port,) = watch.read()
    assert (port.kind, port.rx_bytes_per_s, port.tx_bytes_per_s) == ("rdma", 300, 700)


def test_an_adapter_without_a_performance_agent_is_not_garbage(tree, watch):
    """It answers in words where others have a number."""
    tree.write(rdma_port(**{f"counters/{name}": "N/A (no PMA)" for name in ERRORS}))
    (port,) = watch.read()
    assert port.counters == {}
    assert {port.missing[name] for name in ERRORS} == {"not supported"}


def test_ports_are_in_the_order_of_their_numbers(tree, watch):
    """As people count, RDMA first; each port of each adapter is one link."""
    for device in ("mlx5_10", "mlx5_2"):
        tree.write(rdma_port(f"sys/class/infiniband/{device}/ports/1"))
    tree.write(rdma_port("sys/class/infiniband/mlx5_2/ports/2"))
    tree.write(interface("eth10") | interface("eth9"))
    assert names(watch.read()) == ["mlx5_2/1", "mlx5_2/2", "mlx5_10/1", "eth9", "eth10"]


def test_the_counters_of_many_ports_are_read_by_turns(tree, watch):
    """Asking all adapters' firmware at one moment is what nobody does; all have had their turn."""
    for number in range(8):
        tree.write(rdma_port(f"sys/class/infiniband/mlx5_{number}/ports/1"))
    watch.read()
    for number in range(8):
        tree.write({f"sys/class/infiniband/mlx5_{number}/ports/1/counters/symbol_error": 1})
    told = [sum(1 for port in watch.read() if port.counters) for _ in range(SELDOM)]
    assert told[-1] == 8
    assert max(after - before for before, after in zip([0, *told], told, strict=False)) <= 2


def test_an_interface_is_read_in_full(tree, watch):
    """State, speed, carrier changes, drops, errors and traffic."""
    tree.write(interface(**{"statistics/rx_dropped": 5}))
    watch.read()
    tree.write({f"{NIC}/statistics/rx_dropped": 8, f"{NIC}/statistics/tx_bytes": 4000})
    (nic,) = watch.read()
    assert (nic.kind, nic.state, nic.speed_mbps, nic.carrier_changes) == (
        "ethernet",
        "up",
        25000,
        2,
    )
    assert (nic.rx_bytes_per_s, nic.tx_bytes_per_s) == (0, 4000)
    (nic,) = watch.read(SELDOM)
    assert (nic.counters, nic.growth) == ({"rx_dropped": 8}, {"rx_dropped": 3})


def test_interfaces_without_a_device_and_those_put_down_are_left_out(tree, watch):
    """Loopback, veth and bridges carry nothing of their own; what is put down is nobody's fault."""
    for name in ("lo", "veth12ab", "docker0"):
        tree.write(interface(name))
        tree.remove(f"sys/class/net/{name}/device")
    tree.write(interface("ib0", type=32))
    tree.write(interface("eno4", flags="0x1002"))
    tree.write(interface("eth0"))
    tree.write({"sys/class/net/bonding_masters": ""})
    assert names(watch.read()) == ["eth0"]


@pytest.mark.parametrize(("carrier", "state"), [(1, "up"), (0, "down")])
def test_a_driver_that_keeps_no_state_is_known_by_its_carrier(tree, watch, carrier, state):
    """Such drivers say "unknown"."""
    tree.write(interface(operstate="unknown", carrier=carrier))
    assert watch.read()[0].state == state


@pytest.mark.parametrize("speed", ["-1", "4294967295", "0", ""])
def test_a_speed_that_is_not_known_is_missing(tree, watch, speed):
    """Drivers tell -1 in one width or the other; it is no speed."""
    tree.write(interface(speed=speed))
    (nic,) = watch.read()
    assert (nic.speed_mbps, nic.missing["speed_mbps"]) == (None, "not known to the driver")


def test_a_bond_is_told_with_its_members_and_what_it_says_of_them(tree, watch):
    """A member that its bond holds for down is down, whatever it says itself."""
    tree.write(interface("eth0") | interface("eth1") | interface("bond0", speed=50000))
    tree.remove("sys/class/net/bond0/device")
    tree.write({"sys/class/net/bond0/bonding/slaves": "eth0 eth1"})
    for name, status in (("eth0", "up"), ("eth1", "down")):
        (tree.root / f"sys/class/net/{name}/master").symlink_to("../bond0")
        tree.write({f"sys/class/net/{name}/bonding_slave/mii_status": status})
    watch.read()
    bond, first, second = watch.read()
    assert (bond.name, bond.kind, bond.speed_mbps, bond.state) == ("bond0", "bond", 50000, "up")
    assert (first.bond, first.state, second.bond, second.state) == ("bond0", "up", "bond0", "down")


def test_an_interface_in_a_bridge_is_in_no_bond(tree, watch):
    """A bridge is a master too."""
    tree.write(interface("eth0") | {"sys/class/net/br0/bridge/stp_state": 0})
    (tree.root / "sys/class/net/eth0/master").symlink_to("../br0")
    assert watch.read()[0].bond is None


def test_a_link_that_goes_is_told_as_gone_and_comes_back(tree, watch):
    """An adapter that falls off its bus takes its folder with it; that is no reason for silence."""
    tree.write(rdma_port() | interface())
    watch.read()
    tree.remove("sys/class/infiniband/mlx5_0")
    (at_once, _) = watch.read()
    assert (at_once.state, at_once.missing["state"]) == (None, "not there")
    links = watch.read()
    assert {link.name: link.state for link in links} == {"eth0": "up", "mlx5_0/1": GONE}
    tree.write(rdma_port())
    assert {link.name: link.state for link in watch.read(11)}["mlx5_0/1"] == "active"


def test_an_interface_that_is_put_down_is_not_gone(tree, watch):
    """It is still there, and was meant to be down."""
    tree.write(interface("eth0") | interface("eth1"))
    watch.read()
    tree.write({"sys/class/net/eth1/flags": "0x1002"})
    assert names(watch.read(11)) == ["eth0"]


def test_a_machine_without_links_has_none(watch):
    """No folders, no links, and no complaint."""
    assert watch.read() == ()
    assert watch.reader.missing is None


def test_links_that_may_no_longer_be_listed_are_not_gone(tree, watch, unprivileged):
    """Those that are known are still told, and why there may be more."""
    tree.write(rdma_port() | interface())
    watch.read()
    tree.lock("sys/class/infiniband")
    tree.lock("sys/class/net")
    with unprivileged():
        links = watch.read(11)
    assert names(links) == ["mlx5_0/1", "eth0"]
    assert watch.reader.missing == "no permission"
    (tree.root / "sys/class/infiniband").chmod(0o755)
    (tree.root / "sys/class/net").chmod(0o755)


def test_very_many_interfaces_are_bounded(tree, watch):
    """Virtual functions by the hundred cost no more than sixty-four links, and are said to."""
    for number in range(70):
        tree.write(interface(f"eth{number}"))
    assert len(watch.read()) == 64
    assert watch.reader.missing == "the first 64 of 70 are told"


def test_this_machine_is_plausible():
    """What the real kernel tells has a name, a kind and a state, or the reason for none."""
    reader = LinkReader()
    reader.read(0.0)
    for link in reader.read(1.0):
        assert link.state or link.missing["state"]
        assert link.kind in ("infiniband", "roce", "rdma", "ethernet", "bond")
        assert link.rx_bytes_per_s is None or link.rx_bytes_per_s >= 0
