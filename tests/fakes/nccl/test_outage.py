"""A job that runs when its network breaks."""

from __future__ import annotations

from fakes.nccl.outage import network_changed

SECOND_US = 1_000_000


def after(job, seconds: float) -> None:
    job.world.advance(job.world.now_us + round(seconds * SECOND_US))


def set_port(job, *, up: bool) -> None:
    node = job.world.nodes["n1"]
    node.network.adapters[0].set_link(up=up)
    network_changed(job.world, node)


def test_a_port_that_stays_down_ends_the_ranks_that_use_it(job):
    """After its retries NCCL says so, with the peer's address; the ranks end."""
    set_port(job, up=False)
    after(job, 30)
    assert job.text == ""
    after(job, 10)
    assert "NET/IB : Got completion from peer 10.0.0.1<" in job.text
    assert "with status=12" in job.text
    assert {node for node, _, _ in job.said} == {"n1"}
    assert not job.world.nodes["n1"].processes


def test_a_port_that_is_back_in_time_costs_no_job(job):
    """Nor do several short outages, of which none lasts as long as the retries."""
    for _ in range(4):
        set_port(job, up=False)
        after(job, 10)
        set_port(job, up=True)
        after(job, 5)
    after(job, 60)
    assert job.text == ""
    assert job.alive == 4


def test_nodes_that_are_cut_off_lose_their_job(job):
    """Every link is up, and nothing gets through."""
    job.world.nodes["n0"].network.trouble.cut_off = frozenset({"n1"})
    network_changed(job.world, job.world.nodes["n0"])
    after(job, 60)
    assert "with status=12" in job.text


def test_a_job_on_one_node_does_not_care(make_job):
    """It sends nothing over the network."""
    job = make_job(nodes=1)
    job.world.nodes["n0"].network.adapters[0].set_link(up=False)
    network_changed(job.world, job.world.nodes["n0"])
    after(job, 60)
    assert job.text == ""
    assert job.alive == 2
