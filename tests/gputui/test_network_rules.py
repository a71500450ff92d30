"""Links that go down or work badly, and nodes elsewhere that fall silent."""

from dataclasses import replace

import pytest

from gputui.assess import Assessor
from gputui.incidents.engine import Engine
from gputui.incidents.rules import all_rules
from gputui.model import LinkSample, NodeSample, Severity
from gputui.silence import Silence

PORTS = tuple(f"mlx5_{number}/1" for number in range(4))


def port(name="mlx5_0/1", **changed):
    """An InfiniBand port in good order."""
    good = {
        "kind": "infiniband",
        "state": "active",
        "physical_state": "linkup",
        "speed_mbps": 400_000,
        "lanes": "4X NDR",
        "growth_s": 10.0,
    }
    return LinkSample(name, **{**good, **changed})


class Wired:
    """An engine that sees a node with links, second by second."""

    def __init__(self, make) -> None:
        self.make = make
        self.engine = Engine(all_rules(), interval_s=1.0)
        self.time_s = 0.0

    def sees(self, *links, seconds=1):
        for _ in range(seconds):
            now = [link(self.time_s) if callable(link) else link for link in links]
            sample = replace(self.make.node(self.time_s, count=2), links=tuple(now))
            self.engine.sample(sample)
            self.time_s += 1
        return self

    @property
    def kinds(self):
        return [one.kind for one in self.engine.incidents]

    @property
    def one(self):
        (root,) = [one for one in self.engine.incidents if one.parent is None]
        return root


@pytest.fixture
def wired(make):
    return Wired(make)


def ports(*changed):
    """Four ports, with some in another state."""
    instead = {one.name: one for one in changed}
    return [instead.get(name) or port(name) for name in PORTS]


def test_links_in_good_order_are_no_incident(wired):
    """Ports and interfaces that are up, and one that never was."""
    wired.sees(*ports(port("mlx5_3/1", state="down", physical_state="polling")), seconds=120)
    assert wired.kinds == []


def test_a_port_that_goes_down_is_told_within_three_samples(wired):
    """No signal from the other end: its cable, or the switch's port."""
    wired.sees(*ports(), seconds=5)
    wired.sees(*ports(port("mlx5_2/1", state="down", physical_state="polling")), seconds=3)
    down = wired.one
    assert (down.kind, down.subject, down.cause) == ("NicDown", "nic:mlx5_2/1", "link")
    assert down.severity is Severity.CRITICAL
    assert "ibstat mlx5_2 1" in down.action_text
    assert wired.sees(*ports(), seconds=5).kinds == []


def test_a_port_without_a_subnet_manager_is_the_switchs(wired):
    """The signal is there; nobody has set the port up."""
    wired.sees(*ports(), seconds=5).sees(*ports(port("mlx5_2/1", state="init")), seconds=3)
    assert wired.one.cause == "switch"


def test_all_ports_down_at_once_are_the_switch(wired):
    """One incident of the node, and not four."""
    wired.sees(*ports(), seconds=5)
    dead = [port(name, state="down", physical_state="polling") for name in PORTS]
    wired.sees(*ports(*dead), seconds=5)
    assert (wired.one.subject, wired.one.cause) == ("node:n0", "switch")


def test_an_interface_goes_down_with_its_port(wired):
    """RDMA over Ethernet shows twice: the port is the cause."""

    def pair(state, physical):
        return [
            port(kind="roce", state=state, physical_state=physical, interface="eth0"),
            LinkSample("eth0", state="up" if state == "active" else "down"),
        ]

    wired.sees(*pair("active", "linkup"), seconds=5).sees(*pair("down", "disabled"), seconds=3)
    assert wired.one.subject == "nic:mlx5_0/1"
    assert len(wired.kinds) == 2


def test_one_leg_of_a_bond_is_a_warning_and_the_bond_is_grave(wired):
    """Traffic goes on over the other leg."""

    def bond(state, first, second):
        return [
            LinkSample("bond0", "bond", state),
            LinkSample("eth0", state=first, bond="bond0"),
            LinkSample("eth1", state=second, bond="bond0"),
        ]

    wired.sees(*bond("up", "up", "up"), seconds=5).sees(*bond("up", "down", "up"), seconds=3)
    assert (wired.one.subject, wired.one.severity) == ("nic:eth0", Severity.WARNING)
    wired.sees(*bond("down", "down", "down"), seconds=3)
    assert (wired.one.subject, wired.one.severity) == ("nic:bond0", Severity.CRITICAL)


def test_a_link_that_flaps_is_degraded(wired):
    """Twice within a minute and a half; once alone is information."""
    wired.sees(*ports(), seconds=15)
    wired.sees(*ports(port("mlx5_1/1", counters={"link_downed": 1})), seconds=20)
    assert (wired.one.kind, wired.one.severity) == ("IbLinkDegraded", Severity.INFO)
    wired.sees(*ports(port("mlx5_1/1", counters={"link_downed": 2})), seconds=5)
    assert (wired.one.subject, wired.one.severity) == ("nic:mlx5_1/1", Severity.WARNING)
    assert wired.one.cause_text.startswith("went down 2 and")
    wired.sees(*ports(port("mlx5_1/1", counters={"link_downed": 2})), seconds=500)
    assert wired.kinds == []


def test_errors_count_by_what_the_wire_carries(wired):
    """Forty a second on 400 Gb/s is a bad cable; one in ten seconds is none."""

    def at(rate):
        def link(time_s):
            return port("mlx5_1/1", counters={"symbol_error": 1000 + int(rate * time_s)})

        return link

    few = at(0.1)
    for _ in range(60):
        wired.sees(*ports(few(wired.time_s)))
    assert wired.kinds == []
    many = at(40)
    for _ in range(60):
        wired.sees(*ports(many(wired.time_s)))
    assert (wired.one.kind, wired.one.cause) == ("IbLinkDegraded", "link")
    assert "errors/s" in wired.one.cause_text


@pytest.mark.parametrize("counter", ["port_xmit_wait", "np_cnp_sent", "out_of_sequence"])
def test_congestion_is_no_bad_cable(wired, counter):
    """A busy network marks its packets."""
    for second in range(60):
        wired.sees(*ports(port("mlx5_1/1", counters={counter: 10_000 * second})))
    assert wired.kinds == []


def test_a_port_slower_than_its_peers_is_degraded(wired):
    """It was so from the start: the others tell."""
    wired.sees(*ports(port("mlx5_1/1", speed_mbps=200_000, lanes="2X NDR")), seconds=3)
    assert wired.one.cause_text == "runs at 200 of 400 Gb/s (2X NDR)"


def test_a_port_slower_than_it_was_is_degraded(wired):
    """A single port has no peers, but a past."""
    wired.sees(port(), seconds=5).sees(port(speed_mbps=100_000, lanes="1X NDR"), seconds=3)
    assert wired.one.cause_text == "runs at 100 of 400 Gb/s (1X NDR)"


# --- NodeDown -------------------------------------------------------------------------------------


def failed(time_s, said):
    return NodeSample("node-a", time_s, error=f"No connection to node-a: {said}.")


def test_a_node_that_cannot_be_reached_again_is_down(wired, make):
    """Connections are refused for ten seconds; the way there is told from the node."""
    wired.sees(seconds=5)
    last_s = wired.time_s - 1
    for second in (5, 6, 8, 12, 16):
        wired.engine.failed(failed(float(second), "No route to host"))
    down = wired.one
    assert (down.kind, down.subject, down.cause) == ("NodeDown", "node:n0", "link")
    assert down.opened_s == last_s
    wired.time_s = 20.0
    assert wired.sees(seconds=4).kinds == []


def test_a_connection_that_is_made_again_at_once_is_no_incident(wired):
    """A connection may be restarted."""
    wired.sees(seconds=5)
    wired.engine.failed(failed(5.0, "it was lost"))
    wired.engine.failed(failed(6.0, "Connection refused"))
    wired.time_s = 8.0
    assert wired.sees(seconds=5).kinds == []


def test_a_node_that_was_never_heard_of_is_not_down(wired):
    """Its name is wrong, rather."""
    for second in range(60):
        wired.engine.failed(failed(float(second), "Could not resolve hostname node-a"))
    assert wired.kinds == []


@pytest.mark.parametrize(("elsewhere", "kinds"), [(True, ["NodeDown"]), (False, [])])
def test_half_a_minute_of_silence_from_elsewhere_is_a_node_down(wired, elsewhere, kinds):
    """The silence of this machine is its sampler's, which is another matter."""
    wired.sees(seconds=5)
    last = wired.engine.past.samples[-1]
    for second in range(5, 60):
        wired.engine.silent(5.0 + second, Silence(float(second), elsewhere=elsewhere), last)
    assert wired.kinds == kinds


def test_a_snapshot_shows_that_its_node_is_down(make):
    """The GPUs are as they were last seen, and the incident says why."""
    assessor = Assessor(interval_s=1.0)
    for second in range(5):
        assessor.sample(make.node(float(second)))
    for second in range(5, 20, 3):
        snapshot = assessor.sample(failed(float(second), "Connection timed out"))
    assert [one.kind for one in snapshot.incidents] == ["NodeDown"]
    assert len(snapshot.sample.gpus) == 8
    assert assessor.sample(make.node(21.0)).incidents[0].eased_s is not None
    assert assessor.sample(make.node(23.0)).incidents == ()
