"""Rules of links, on samples and lines that no fake model has: pairs of cards, ports, firmware."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gputui.incidents.engine import Engine
from gputui.incidents.rules import all_rules
from gputui.logs.kernel import KernelParser
from gputui.model import Action, GpuSample, HostSample, Incident, NodeSample, PciGpu, Severity
from gputui.scan.judge import Judge
from gputui.scan.reader import events
from gputui.sources.reasons import GPU_IS_LOST, MISSING

BUSES = tuple(f"0000:{0x10 + index:02x}:00" for index in range(8))


def gpu(index: int, **readings: object) -> GpuSample:
    """A busy card, bridged to its neighbour by four links."""
    healthy: dict[str, object] = {
        "uuid": f"GPU-{index}",
        "bus_id": BUSES[index],
        "name": "NVIDIA A100 80GB PCIe",
        "utilization_percent": 95,
        "clock_reasons": 0,
        "nvlinks": 4,
        "nvlinks_down": (),
        "nvlink_peers": (BUSES[index ^ 1],) * 4,
    }
    return GpuSample(index, **{**healthy, **readings})  # type: ignore[arg-type]


class Node:
    """An engine with all rules, given four cards second by second, and lines of the kernel's."""

    def __init__(self) -> None:
        self.engine = Engine(all_rules(), interval_s=1.0)
        self.time_s = 0.0
        self._parser = KernelParser()

    def sees(self, *changed: GpuSample, seconds: int = 5, **node: object) -> Node:
        instead = {one.index: one for one in changed}
        gpus = tuple(instead.get(index) or gpu(index) for index in range(4))
        for _ in range(seconds):
            sample = NodeSample("n0", self.time_s, gpu_count=4, gpus=gpus)
            self.engine.sample(replace(sample, **node))  # type: ignore[arg-type]
            self.time_s += 1
        return self

    def hears(self, *lines: str) -> Node:
        for line in lines:
            event = self._parser.parse(line, self.time_s)
            assert event is not None, line
            self.engine.log(event)
        return self

    @property
    def roots(self) -> list[tuple[str, str, str]]:
        found = (one for one in self.engine.incidents if one.parent is None)
        return [(one.kind, one.subject, one.cause) for one in found]


def read(log: str) -> list[Incident]:
    """The incidents of a log that is read offline."""
    judge = Judge()
    for one in events("x", iter([f"{log}\n".encode()]), 1e9):
        judge.hear(one.event, one.host)
    return [one.incident for one in judge.incidents()]


class TestPairs:
    def test_a_link_between_two_cards_is_one_incident(self):
        """Both ends are down: it is told once, and names both."""
        node = Node().sees().sees(gpu(2, nvlinks_down=(1,)), gpu(3, nvlinks_down=(1,)))
        assert node.roots == [("NvlinkDown", "gpu:GPU-2", "link")]
        assert "link 1 to GPU 3" in node.engine.incidents[0].cause_text

    def test_both_ends_xids_hang_under_it(self):
        """Each card prints its own Xid 74."""
        node = Node().sees()
        for index in (3, 2):
            node.hears(
                f"NVRM: Xid (PCI:{BUSES[index]}): 74, pid=9, name=python3, NVLink: fatal error "
                "detected on link 1(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"
            )
        node.sees(gpu(2, nvlinks_down=(1,)), gpu(3, nvlinks_down=(1,)))
        assert node.roots == [("NvlinkDown", "gpu:GPU-2", "link")]

    def test_the_end_that_told_is_named_with_its_own_link(self):
        """The incident is that of the lower end, the number of the link that of the other."""
        words = "NVLink: fatal error detected on link 3(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"
        node = Node().sees().hears(f"NVRM: Xid (PCI:{BUSES[3]}): 74, {words}")
        (found,) = (one for one in node.engine.incidents if one.kind == "NvlinkDown")
        assert (found.subject, "link 3 of GPU 3" in found.cause_text) == ("gpu:GPU-2", True)

    def test_cards_without_a_bridge_have_nothing_to_lose(self):
        """All links of all cards are down, always, and lead nowhere."""
        bare = [gpu(index, nvlinks_down=(0, 1, 2, 3), nvlink_peers=None) for index in range(4)]
        assert Node().sees(*bare, seconds=100).roots == []

    def test_links_that_no_gpu_of_the_model_has_are_spare(self):
        """The same two links are down on every board, from the start."""
        spare = [
            gpu(index, nvlinks_down=(2, 3), nvlink_peers=("0000:05:00", "0000:06:00", "", ""))
            for index in range(4)
        ]
        assert Node().sees(*spare, seconds=100).roots == []


class TestLogAlone:
    """A log that is read without any GPU to look at."""

    WORDS = "NVLink: fatal error detected on link 3(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"

    def test_two_gpus_that_fail_at_once_are_the_two_ends(self):
        """One incident, of the first, with both Xids under it."""
        for order in ((0, 1), (1, 0)):
            node = Node().hears(*(f"NVRM: Xid (PCI:{BUSES[i]}): 74, {self.WORDS}" for i in order))
            assert [(kind, cause) for kind, _, cause in node.roots] == [("NvlinkDown", "link")]
            assert [one.kind for one in node.engine.incidents].count("GpuXid") == 2

    def test_each_end_is_named_by_its_own_link(self):
        """The numbers of a link's two ends have nothing to do with each other."""
        words = "NVLink: fatal error detected on link {}(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"
        for first, second in ((0, 1), (1, 0)):
            node = Node().hears(f"NVRM: Xid (PCI:{BUSES[first]}): 74, {words.format(10)}")
            node.time_s += 0.004
            node.hears(f"NVRM: Xid (PCI:{BUSES[second]}): 74, {words.format(2)}")
            (found,) = (one for one in node.engine.incidents if one.kind == "NvlinkDown")
            assert found.subject == f"gpu:{BUSES[first]}"
            assert f"link 10 of {BUSES[first]} and link 2 of {BUSES[second]}" in found.cause_text

    def test_many_that_fail_at_once_are_a_switch(self):
        """One incident of the node."""
        lines = [f"NVRM: Xid (PCI:{bus}): 74, {self.WORDS}" for bus in BUSES]
        node = Node().hears(*lines)
        assert [(kind, cause) for kind, _, cause in node.roots] == [("NvlinkDown", "switch")]

    def test_two_that_fail_one_after_the_other_are_two(self):
        """A minute lies between them."""
        node = Node().hears(f"NVRM: Xid (PCI:{BUSES[0]}): 74, {self.WORDS}")
        node.time_s += 60
        node.hears(f"NVRM: Xid (PCI:{BUSES[1]}): 74, {self.WORDS}")
        assert [kind for kind, _, _ in node.roots] == ["NvlinkDown", "NvlinkDown"]


class TestALostPeer:
    """A GPU that falls off the bus is the other end of its peers' links."""

    LOST = (
        "NVRM: GPU {bus}.0: GPU has fallen off the bus.",
        "NVRM: Xid (PCI:{bus}): 79, pid=9, name=python3, GPU has fallen off the bus.",
    )
    WORDS = (
        "NVRM: Xid (PCI:{bus}): 74, pid=9, name=python3, NVLink: fatal error detected on link "
        "{link}(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"
    )

    def test_its_partner_card_hangs_under_the_loss(self):
        """Of a bridged pair one is lost: Xid 74 and the readings of the other are no second
        incident, and no other link is blamed.
        """
        node = Node().sees().hears(*(line.format(bus=BUSES[3]) for line in self.LOST))
        node.hears(self.WORDS.format(bus=BUSES[2], link=1))
        lost = GpuSample(3, "GPU-3", BUSES[3], return_code=GPU_IS_LOST)
        node.sees(lost, gpu(2, nvlinks_down=(0, 1, 2, 3)))
        assert node.roots == [("GpuLost", "gpu:GPU-3", "bus")]
        assert "NvlinkDown" in [one.kind for one in node.engine.incidents]

    def test_another_link_of_the_partner_is_its_own_matter(self):
        """What leads to a card that still answers did not go with the lost one."""
        peers = (BUSES[3], BUSES[3], BUSES[1], BUSES[1])
        lost = GpuSample(3, "GPU-3", BUSES[3], return_code=GPU_IS_LOST)
        node = Node().sees().sees(lost, gpu(2, nvlinks_down=(0, 1, 2), nvlink_peers=peers))
        assert {kind for kind, _, _ in node.roots} == {"GpuLost", "NvlinkDown"}
        (found,) = (one for one in node.engine.incidents if one.kind == "NvlinkDown")
        assert found.cause_text == "link 2 to GPU 1 is down"

    @pytest.mark.parametrize("loss_first", [True, False])
    @pytest.mark.parametrize("peers", [(1,), (1, 2), (1, 2, 3, 4)])
    def test_peers_in_a_log_alone_hang_under_the_loss(self, loss_first, peers):
        """However many tell of their links, before or after the loss is told."""
        loss = [line.format(bus=BUSES[0]) for line in self.LOST]
        links = [self.WORDS.format(bus=BUSES[index], link=index) for index in peers]
        incidents = read("\n".join([*loss, *links] if loss_first else [*links, *loss]))
        assert [one.kind for one in incidents if one.parent is None] == ["GpuLost"]
        if loss_first and len(peers) == 2:
            told = [one.cause_text for one in incidents if one.kind == "NvlinkDown"]
            assert sorted(told) == ["link 1 failed (Xid 74)", "link 2 failed (Xid 74)"]

    def test_a_link_that_fails_much_later_is_its_own_incident(self):
        """A quarter of an hour after the loss."""
        loss = [f"[  100.000000] {line.format(bus=BUSES[0])}" for line in self.LOST]
        later = f"[ 1000.000000] {self.WORDS.format(bus=BUSES[1], link=2)}"
        roots = [one.kind for one in read("\n".join([*loss, later])) if one.parent is None]
        assert roots == ["GpuLost", "NvlinkDown"]


class TestSwitchAndGpuInALogAlone:
    """The two ends of a link each tell of it: nobody knows where the GPU's links lead."""

    GPU = (
        "[  {at:.6f}] NVRM: Xid (PCI:0000:3b:00): 74, pid='<unknown>', name=<unknown>, NVLink: "
        "fatal error detected on link 4(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"
    )
    SWITCH = "[  {at:.6f}] nvidia-nvswitch3: SXid (PCI:0000:86:00.0): {what}"
    FATAL = "20034, Fatal, Link 25 LTSSM Fault Up"
    MILD = "20001, Non-fatal, Link 25 TX Replay Error"

    @pytest.mark.parametrize(
        ("gpu_s", "switch_s", "what", "root"),
        [
            (100.2, 100.0, FATAL, "NvswitchError"),
            (100.0, 101.0, FATAL, "NvswitchError"),
            (130.0, 100.0, FATAL, "NvswitchError"),
            (100.0, 130.0, FATAL, "NvlinkDown"),
            (100.2, 100.0, MILD, "NvlinkDown"),
            (100.0, 100.2, MILD, "NvlinkDown"),
        ],
    )
    def test_they_are_one_incident(self, gpu_s, switch_s, what, root):
        """The switch's if its error is grave and came with the GPU's or before; a mild one hangs
        under the GPU's.
        """
        lines = sorted(
            [self.GPU.format(at=gpu_s), self.SWITCH.format(at=switch_s, what=what)],
        )
        incidents = read("\n".join(lines))
        assert [one.kind for one in incidents if one.parent is None] == [root]
        assert {one.kind for one in incidents} == {"NvswitchError", "NvlinkDown", "GpuXid"}

    def test_an_hour_apart_they_are_two(self):
        """They have nothing to do with each other."""
        lines = [
            self.SWITCH.format(at=100.0, what=self.FATAL),
            self.GPU.format(at=3700.0),
        ]
        roots = {one.kind for one in read("\n".join(lines)) if one.parent is None}
        assert roots == {"NvswitchError", "NvlinkDown"}


class TestSleep:
    def test_an_error_of_last_week_does_not_wake_a_link_that_sleeps(self):
        """A link of a GPU without work is information, unless the driver said within a day that it
        failed.
        """
        asleep = [gpu(index, utilization_percent=0) for index in range(4)]
        down = gpu(2, utilization_percent=0, nvlinks_down=(1,), nvlink_peers=("0000:05:00",) * 4)
        words = f"NVRM: Xid (PCI:{BUSES[2]}): 74, NVLink: fatal error detected on link 1(0x0, 0x0)"
        for quiet_s, wanted in ((3600, Severity.CRITICAL), (8 * 86_400, Severity.INFO)):
            node = Node().sees(*asleep).hears(words)
            node.time_s += quiet_s
            node.sees(*asleep[:2], down, asleep[3], seconds=100)
            (found,) = (one for one in node.engine.incidents if one.kind == "NvlinkDown")
            assert found.severity is wanted


class TestNvlink5:
    def test_a_fatal_error_names_its_link(self):
        """NVLink5's line, decoded."""
        node = (
            Node()
            .sees()
            .hears(
                f"NVRM: Xid (PCI:{BUSES[0]}): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 02 "
                "(0x025525c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)"
            )
        )
        assert node.roots[0][:2] == ("NvlinkDown", "gpu:GPU-0")

    def test_one_that_is_not_fatal_is_counted_as_an_xid(self):
        """No link is down."""
        node = (
            Node()
            .sees()
            .hears(
                f"NVRM: Xid (PCI:{BUSES[0]}): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 01 "
                "(0x00000142 0x00000008 0x00000000 0x00000000 0x00000000 0x00000000)"
            )
        )
        assert [kind for kind, _, _ in node.roots] == ["GpuXid"]


class TestPci:
    def test_an_error_of_a_port_is_that_of_the_gpu_below(self):
        """The kernel names the bridge; /sys says what hangs on it."""
        on_bus = (PciGpu(BUSES[1], "nvidia", above=("0000:00:01", "0000:0f:00")),)
        node = (
            Node()
            .sees(on_bus=on_bus)
            .hears("pcieport 0000:0f:00.0: DPC: containment event, status:0x1f01 source:0x0000")
        )
        assert node.roots == [("PcieErrors", "gpu:GPU-1", "link")]
        assert node.engine.incidents[0].severity is Severity.CRITICAL

    def test_an_error_of_a_port_without_gpus_is_not_ours(self):
        """It may be a disk's, or a network card's."""
        node = (
            Node()
            .sees()
            .hears(
                "pcieport 0000:0e:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, "
                "(Receiver ID)"
            )
        )
        assert node.roots == []


class TestFabric:
    def test_a_node_that_was_just_started_may_take_its_time(self):
        """Registration follows the start of the fabric manager."""
        waiting = [gpu(index, fabric_state="in progress") for index in range(4)]
        young = HostSample(uptime_s=60.0)
        assert Node().sees(*waiting, host_readings=young).roots == []
        old = HostSample(uptime_s=900.0)
        assert Node().sees(*waiting, host_readings=old).roots == [
            ("FabricNotReady", "node:n0", "fabric-manager")
        ]

    def test_a_managers_words_count_as_long_as_the_driver_is_the_same(self):
        """After an update of the driver they are of yesterday."""
        waiting = [gpu(index, fabric_state="in progress") for index in range(4)]
        words = (
            "nv-fabricmanager[12]: fabric manager NVIDIA GPU driver interface version 565.57.01 "
            "don't match with driver version 570.124.06. Please update."
        )
        for driver, cause in (("570.124.06", "version-mismatch"), ("575.51.03", "fabric-manager")):
            node = Node().hears(words).sees(*waiting, driver=driver)
            assert node.roots == [("FabricNotReady", "node:n0", cause)]

    def test_without_its_manager_the_links_are_down_too(self):
        """One cause, with the links under it."""
        down = [
            gpu(
                index,
                fabric_state="in progress",
                nvlinks_down=(0, 1, 2, 3),
                nvlink_peers=("0000:05:00", "0000:06:00") * 2,
            )
            for index in range(4)
        ]
        node = Node().sees(*down)
        assert node.roots == [("FabricNotReady", "node:n0", "fabric-manager")]
        assert [one.kind for one in node.engine.incidents] == ["FabricNotReady", "NvlinkDown"]


class TestMissing:
    @pytest.mark.parametrize(
        ("line", "cause", "action"),
        [
            ("RmInitAdapter failed! (0x62:0x65:2028)", "firmware", Action.REBOOT_NODE),
            ("RmInitAdapter failed! (0x31:0xffff:1035)", "firmware", Action.REBOOT_NODE),
            ("RmInitAdapter failed! (0x24:0x1f:1220)", "driver", Action.REBOOT_NODE),
            (
                "GPU does not have the necessary power cables connected.",
                "power",
                Action.CHECK_POWER,
            ),
        ],
    )
    def test_the_kernel_says_why_a_gpu_did_not_start(self, line, cause, action):
        """On the bus, but not counted: its firmware, its power, or the driver."""
        missing = GpuSample(3, "GPU-3", BUSES[3], return_code=MISSING)
        on_bus = tuple(PciGpu(bus, "nvidia") for bus in BUSES[:4])
        node = Node().hears(f"NVRM: GPU {BUSES[3]}.0: {line}")
        found = [
            one
            for one in node.sees(missing, on_bus=on_bus).engine.incidents
            if one.kind == "GpuMissing"
        ]
        assert [(one.subject, one.cause, one.action) for one in found] == [
            ("gpu:GPU-3", cause, action)
        ]


def test_the_board_with_a_narrow_link_is_named_in_brackets() -> None:
    """Serial number, slot and address stand apart from the word for the board."""
    narrow = gpu(1, pcie_width=8, pcie_width_max=16, serial="1324", slot="PCIe 3")
    (found,) = Node().sees(narrow).engine.incidents
    assert found.kind == "PcieDegraded"
    assert f"its riser (serial 1324, slot PCIe 3, PCI {BUSES[1]})" in found.action_text
