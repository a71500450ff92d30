"""The look-alikes that tell of a node's network: every form that scripts call, sound and broken."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from fakes.commands.registry import NOT_UNDERSTOOD, Call, commands
from fakes.node import Node
from fakes.profile import load_profile
from fakes.world import World

FORMS = """\
ip addr
ip address show
ip a
ip -o -4 addr show
ip -4 addr show eth0
ip addr show dev ib0
ip -br addr
ip -j addr
ip link
ip link show
ip link show eth0
ip -json link show
ip -s link show
ip -s -j link
ip -br link
ip -o link show up
ip route
ip route show default
ip r
ip route get 10.0.0.2
ip neigh
ip neigh show dev eth0
ip -V
getent hosts
getent hosts n1
getent hosts 10.0.0.2
getent ahosts n1
getent ahostsv4 n1
getent passwd alice
getent group alice
hostname
hostname -s
hostname -f
hostname -i
hostname -I
ping -c 1 n1
ping -c1 -W1 10.1.0.2
ping -q -c 3 -i 0.2 n1
ibstat
ibstat -l
ibstat --short mlx5_0
ibstat mlx5_0 1
ibstatus
ibstatus mlx5_1
ibv_devinfo
ibv_devinfo -d mlx5_0
ibv_devinfo -l
ibv_devinfo -v
ibv_devices
ibdev2netdev
ibdev2netdev -v
ethtool eth0
ethtool -i eth0
ethtool -S eth0
mlxlink -d mlx5_0
mlxlink -d mlx5_0 -m -c -e
mlxlink -d mlx5_0 -p 1 -pc
mlxlink -d mlx5_0 --port_type PCIE
mlxlink -d mlx5_0 -c --port_type PCIE
rdma link show mlx5_0/1
rdma link
rdma stat -j
rdma statistic show link mlx5_0/1
""".splitlines()

FILES = {
    "/etc/passwd": "root:x:0:0::/root:/bin/sh\nalice:x:60801:60801::/home/alice:/bin/bash\n",
    "/etc/group": "root:x:0:\nalice:x:60801:\n",
}


@dataclass(frozen=True)
class Said:
    status: int
    out: str
    err: str


class Site:
    """Two nodes of two GPUs each; commands run on n0."""

    def __init__(self) -> None:
        profile = load_profile("h100-sxm")
        self.world = World([Node(f"n{at}", profile, 2) for at in range(2)])
        self.here, self.there = self.world.nodes.values()

    def __call__(self, line: str) -> Said:
        program, *argv = line.split()
        out, err = io.StringIO(), io.StringIO()
        call = Call(
            argv=argv,
            out=out,
            err=err,
            node=self.here,
            world=self.world,
            nvml=None,
            clock=lambda: 0.0,
            pause=self.pause,
            read_file=FILES.__getitem__,
            env={},
        )
        status = commands()[program](call)
        return Said(status, out.getvalue(), err.getvalue())

    def pause(self, us: int) -> None:
        self.world.advance(self.world.now_us + us)


@pytest.fixture
def site() -> Site:
    return Site()


def cut_first_port(site: Site) -> None:
    adapter = site.here.network.adapters[0]
    adapter.set_link(up=False)
    site.here.network.settle()


@pytest.mark.parametrize("line", FORMS)
@pytest.mark.parametrize("broken", [None, cut_first_port], ids=["sound", "port-down"])
def test_every_form_is_answered(site, line, broken):
    """None is taken for one that nobody understands, and each has something to say."""
    if broken is not None:
        broken(site)
    said = site(line)
    assert said.status != NOT_UNDERSTOOD, said.err
    assert said.out or said.err


@pytest.mark.parametrize(
    "line",
    [
        "ip netns", "ip -X link", "ip link add x", "ip rule", "getent networks", "getent -s x y",
        "hostname --file x", "ping -Z n1", "ping -6 n1", "ibstat -x", "ibstatus -x",
        "ibv_devinfo -x", "ibdev2netdev -x", "ethtool -k eth0", "ethtool", "mlxlink -d x --json",
        "rdma -j", "rdma system",
    ],
)  # fmt: skip
def test_what_is_not_imitated_is_said_loudly(site, line):
    """Exit status 125, and a word about it."""
    said = site(line)
    assert said.status == NOT_UNDERSTOOD
    assert said.err


def test_a_port_that_is_down_is_told_by_every_command(site):
    """One truth: they all read the same world."""
    cut_first_port(site)
    assert "State: Down\n\t\tPhysical state: Polling" in site("ibstat mlx5_0").out
    assert "state:\t\t 1: DOWN" in site("ibstatus mlx5_0").out
    assert "PORT_DOWN (1)" in site("ibv_devinfo -d mlx5_0").out
    assert site("ibdev2netdev").out.splitlines()[0] == "mlx5_0 port 1 ==> ib0 (Down)"
    assert "NO-CARRIER" in site("ip link show ib0").out
    assert "Link detected: no" in site("ethtool ib0").out
    assert "state DOWN physical_state POLLING" in site("rdma link show mlx5_0/1").out
    told = site("mlxlink -d mlx5_0 -c").out
    assert "Negotiation failure" in told
    assert re.search(r"Link Down Counter +: 1\n", told)
    assert "State: Active" in site("ibstat mlx5_1").out


def test_what_scripts_grep_for_on_a_sound_node(site):
    """Lines that decide in public health checks."""
    told = site("ibstat").out
    assert told.count("State: Active") == 2
    assert told.count("Physical state: LinkUp") == 2
    assert told.count("Rate: 400") == 2
    assert "rate:\t\t 400 Gb/sec (4X NDR)" in site("ibstatus").out
    assert "Speed: 100000Mb/s" in site("ethtool eth0").out
    assert (
        "Recommendation                     : No issue was observed"
        in site("mlxlink -d mlx5_0").out
    )
    assert "16X" in site("mlxlink -d mlx5_0 --port_type PCIE").out


def test_a_link_is_put_down_and_up_again(site):
    """The interface's state changes, and it is noted as something that was done."""
    noted = []
    site.here.actions.listen(noted.append)
    assert site("ip link set eth0 down").status == 0
    assert "state DOWN" in site("ip link show eth0").out
    assert site("ip link set dev eth0 up mtu 1500").status == 0
    assert "mtu 1500" in site("ip link show eth0").out
    assert [action.detail for action in noted] == ["eth0 down", "eth0 up", "eth0 mtu 1500"]
    said = site("ip link set eth9 up")
    assert (said.status, said.err) == (1, 'Cannot find device "eth9"\n')


def test_ping_tells_what_is_between_two_nodes(site):
    """Reached, cut off, down, unknown; the time it takes, and what is lost."""
    assert "1 packets transmitted, 1 received, 0% packet loss" in site("ping -c 1 n1").out
    assert site("ping -c 1 n7").status == 2
    site.there.network.trouble.latency_us = 50_000
    assert "time=100 ms" in site("ping -c 1 n1").out
    site.there.network.trouble.loss = 0.5
    lost = int(re.search(r"(\d+)% packet loss", site("ping -c 200 n1").out)[1])
    assert 30 < lost < 70
    site.there.network.trouble.loss = 0.0
    site.here.network.trouble.cut_off = frozenset({"n1"})
    before_us = site.world.now_us
    said = site("ping -c 1 -W 2 n1")
    assert (said.status, site.world.now_us - before_us) == (1, 2_000_000)
    assert "100% packet loss" in said.out
    site.here.network.trouble.cut_off = frozenset()
    site.there.network.interface("eth0").set_carrier(False)
    assert "Destination Host Unreachable" in site("ping -c 1 n1").out


def test_names_go_by_the_nodes_own_file(site):
    """What is edited there is what getent, hostname and ping say."""
    site.here.files.write("/etc/hosts", "127.0.0.1 localhost\n127.0.1.1 n0.site n0\n")
    assert site("getent hosts n0").out == "127.0.1.1       n0.site n0\n"
    assert site("hostname -i").out == "127.0.1.1\n"
    assert site("hostname -f").out == "n0.site\n"
    assert site("getent hosts n1").status == 2
    site.here.files.write("/etc/hosts", "")
    assert site("hostname -i").err == "hostname: Name or service not known\n"


def shape_of(value: Any) -> Any:
    """What a JSON value looks like: its keys in order, and the kinds of its values."""
    if isinstance(value, dict):
        return [(name, shape_of(one)) for name, one in value.items()]
    return type(value).__name__


@pytest.fixture
def real() -> Callable[[str], str]:
    """The real iproute2, where it is."""
    if shutil.which("ip") is None:
        pytest.skip("no iproute2 here")

    def run(line: str) -> str:
        done = subprocess.run(line.split(), capture_output=True, text=True, check=True, timeout=20)
        return done.stdout

    return run


@pytest.mark.parametrize(
    "line", ["ip -j link show lo", "ip -j addr show lo", "ip -s -j link show lo"]
)
def test_json_has_the_keys_of_the_real_one(site, real, line):
    """The same names, in the same order, with the same kinds of values."""
    (theirs,), (ours,) = json.loads(real(line)), json.loads(site(line).out)
    for name in ("addr_info", "stats64"):
        theirs.pop(name, None), ours.pop(name, None)
    assert shape_of(ours) == shape_of(theirs)


@pytest.mark.parametrize(
    "line",
    ["ip link show lo", "ip -o -4 addr show lo", "ip -br addr show lo", "ip -br link show lo"],
)
def test_loopback_reads_as_the_real_one(site, real, line):
    """Byte for byte, where the two must agree."""
    assert site(line).out == real(line)


def test_counters_stand_in_the_real_ones_columns(site, real):
    """Headings and numbers end at the same places."""
    theirs, ours = (text.splitlines() for text in (real("ip -s link show lo"),
                                                   site("ip -s link show lo").out))  # fmt: skip
    assert len(ours) == len(theirs)
    assert [re.sub(r"\s+", " ", line) for line in ours[2::2]] == [
        re.sub(r"\s+", " ", line) for line in theirs[2::2]
    ]
    assert ours[2].index("packets") <= theirs[2].index("packets")


def test_a_ports_counters_are_those_of_sysfs(shell):
    """Perfquery's names over the kernel's values; a port that is down cannot be asked."""
    adapter = shell.node.network.adapters[2]
    adapter.counters["symbol_error"].add(7)
    said = shell("perfquery", "-C", "mlx5_2")
    assert "SymbolErrorCounter:..............7" in said.lines
    assert said.lines[0].startswith(f"# Port counters: Lid {adapter.lid} port 1 ")
    assert "SymbolError" not in shell("perfquery", "-x", "-C", "mlx5_2").out
    adapter.set_link(up=False)
    failed = shell("perfquery", "-C", "mlx5_2")
    assert failed.status == 1
    assert "Failed to open 'mlx5_2' port '1'" in failed.err
    assert shell("perfquery", "12", "1").status == NOT_UNDERSTOOD


def test_every_port_has_its_gid(shell):
    """As the script of MLNX_OFED shows them; its version, too, is told."""
    lines = shell("show_gids").lines
    rows = [line.split() for line in lines[2:-1]]
    adapters = shell.node.network.adapters
    assert [row[0] for row in rows] == [one.name for one in adapters]
    assert [row[3] for row in rows] == [one.gid for one in adapters]
    assert lines[-1] == f"n_gids_found={len(adapters)}"
    assert shell("show_gids", "mlx5_1").lines[-1] == "n_gids_found=1"
    assert shell("ofed_info", "-s").out == "MLNX_OFED_LINUX-24.10-1.1.4.0:\n"


def test_the_machine_tells_its_name_and_make(shell):
    """Hostnamectl agrees with uname and the BIOS."""
    said = shell("hostnamectl").out
    assert "          Kernel: Linux 5.15.0-126-generic\n" in said
    assert " Hardware Vendor: NVIDIA\n" in said
    assert shell("hostnamectl", "--static").out == f"{shell.node.name}\n"
    assert shell("hostnamectl", "set-hostname", "other").status == NOT_UNDERSTOOD
