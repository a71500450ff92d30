"""A job's start: what keeps the ranks apart is said in its order, in the words of who notices."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.network.hosts import HOSTS

STEPS = ("name", "hosts", "interface", "link")
SAYS = {
    "name": "cannot be retrieved (gai error: -2 - Name or service not known)",
    "hosts": "connect [127.0.1.1]:",
    "interface": "Bootstrap : no socket interface found",
    "link": "Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0:1",
}


def arrange(job, *broken: str) -> None:
    """Let n1 be as usual, but for what is broken."""
    own = "127.0.1.1" if "hosts" in broken else "10.0.0.2"
    other = "" if "name" in broken else "10.0.0.1 n0\n"
    node = job.world.nodes["n1"]
    node.files.write(HOSTS, f"127.0.0.1 localhost\n{other}{own} n1\n")
    job.set(NCCL_SOCKET_IFNAME="eth0" if "interface" in broken else "ens3")
    node.network.adapters[0].set_link(up="link" not in broken)


def test_a_healthy_start_says_nothing_and_lives(job):
    """With NCCL's usual verbosity there is nothing to read."""
    assert job.start() == ""
    assert job.alive == 4


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.sampled_from(STEPS), min_size=1))
def test_the_first_thing_that_is_wrong_is_said_and_mending_it_shows_the_next(make_job, broken):
    """Whatever is broken: each start names the first thing, alone, and ends by it."""
    job = make_job()
    left = [step for step in STEPS if step in broken]
    while left:
        arrange(job, *left)
        said = job.start()
        assert [step for step in STEPS if SAYS[step] in said] == left[:1]
        assert job.alive == 0
        del left[0]
    arrange(job)
    assert job.start() == ""
    assert job.alive == 4


def test_whoever_connects_complains_and_not_the_node_that_misleads(job):
    """The others are told 127.0.1.1, and it is they who are refused."""
    arrange(job, "hosts")
    job.start()
    assert {node for node, _, _ in job.said} == {"n0"}


def test_every_rank_says_it_with_its_own_numbers(job):
    """Host, process and device before NCCL's words, the rank before PyTorch's."""
    arrange(job, "interface")
    job.set(NCCL_SOCKET_IFNAME="eth0", NCCL_DEBUG="WARN")
    job.start()
    warned = [text for _, _, text in job.said if "NCCL WARN" in text]
    assert len(warned) == 4
    for node, rank, text in job.said:
        if found := re.match(r"(\S+?):(\d+):(\d+) \[(\d+)\] \S+ NCCL WARN ", text):
            assert found[1] == node
            assert found[2] == found[3]
            assert int(found[4]) == rank % 2
        else:
            assert text.startswith(f"[rank{rank}]: ")


def test_what_nccl_says_goes_by_its_verbosity(job):
    """Without NCCL_DEBUG only PyTorch speaks; with INFO success is told as well."""
    job.set(NCCL_SOCKET_IFNAME="eth0")
    said = job.start()
    assert "NCCL WARN" not in said
    assert "Last error:\n[rank0]: Bootstrap : no socket interface found" in said
    job.set(NCCL_SOCKET_IFNAME="ens3", NCCL_DEBUG="INFO")
    said = job.start()
    assert "NCCL_SOCKET_IFNAME set by environment to ens3" in said
    assert "Bootstrap : Using ens3:10.0.0.2<0>" in said
    assert "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB ens3:10.0.0.1<0>" in said
    assert said.count("Init COMPLETE") == 4


def test_the_files_of_nccl_are_read_and_the_environment_comes_first(job):
    """/etc/nccl.conf is a node's, ~/.nccl.conf comes before it, what the job sets before both."""
    job.world.nodes["n1"].files.write("/etc/nccl.conf", "# ours\nNCCL_SOCKET_IFNAME=eth0\n")
    assert SAYS["interface"] in job.start()
    assert {node for node, _, _ in job.said} == {"n1"}
    job.world.homes.write("/home/alice/.nccl.conf", "NCCL_SOCKET_IFNAME=ens\n")
    assert job.start() == ""
    job.set(NCCL_SOCKET_IFNAME="nothing")
    assert SAYS["interface"] in job.start()


def test_gloo_can_be_told_an_interface(job):
    """Then names do not matter to it, and a missing one is said at once."""
    arrange(job, "hosts")
    job.set(GLOO_SOCKET_IFNAME="ens3")
    assert job.start() == ""
    job.set(GLOO_SOCKET_IFNAME="eth9")
    assert "Unable to find address for: eth9" in job.start()


def test_without_any_adapter_nccl_sends_over_sockets(make_job):
    """It says so in its news, and the job runs."""
    job = make_job(nics=("eth0",))
    job.set(NCCL_DEBUG="INFO")
    said = job.start()
    assert "NET/IB : No device found." in said
    assert "NET/Socket : Using [0]eth0:10.0.0.1<0>" in said
    assert job.alive == 4


def test_a_bridge_that_every_node_has_leads_to_oneself(make_job):
    """172.17.0.1 is rank 0's address, and each node's own: refused."""
    job = make_job(nics=("eth0", "docker0"))
    job.set(NCCL_SOCKET_IFNAME="docker0")
    assert "Connect to 172.17.0.1<" in job.start()
    assert "failed : Connection refused" in job.text


def test_an_interface_that_is_down_has_no_route(make_job):
    """NCCL takes it all the same, and cannot connect."""
    job = make_job(nics=("eth0", "eth1"))
    interface = job.world.nodes["n1"].network.interface("eth1")
    interface.is_up = False
    job.set(NCCL_SOCKET_IFNAME="eth1")
    assert "failed : No route to host" in job.start()


def test_a_job_of_one_rank_has_nobody_to_wait_for(make_job):
    """Whatever is wrong with names, it runs."""
    job = make_job(nodes=1)
    job.edit("n0", "10.0.0.1 n0", "127.0.1.1 n0")
    assert job.start() == ""
    assert job.alive == 2


def test_what_is_ended_meanwhile_says_no_more(job):
    """A start that somebody stops comes to nothing, without a word."""
    arrange(job, "interface")
    assert job.start(for_s=5) == ""
    for node in job.world.nodes.values():
        for pid in tuple(node.processes):
            node.end_process(pid, job.world.now_us)
    job.world.advance(job.world.now_us + 100_000_000)
    assert job.text == ""
