"""Slurm's commands, as scripts call them, answered from the world."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.commands.registry import NOT_UNDERSTOOD, Call, commands
from fakes.jobs.cluster import Phase
from fakes.jobs.process import JobSpec
from fakes.node import Node
from fakes.profile import load_profile
from fakes.slurm.hostlist import HostlistError, compress, expand
from fakes.world import World

SECOND_US = 1_000_000


class Slurm:
    """A fleet of four nodes with a job on two of them, and commands on the first."""

    def __init__(self):
        profile = load_profile("h100-sxm")
        self.world = World([Node(f"n{i}", profile, 8) for i in range(4)], schedules=True)
        specs = {f"n{i}": JobSpec("train", tuple(range(8))) for i in range(2)}
        for name, spec in specs.items():
            self.world.nodes[name].start_job(spec, 0)
        self.job = self.world.cluster.add("train", specs)
        self.err = ""

    def __call__(self, name, *argv):
        """The exit status and what was printed."""
        out, err = io.StringIO(), io.StringIO()
        call = Call(
            argv=argv, out=out, err=err, node=self.world.nodes["n0"], world=self.world, nvml=None,
            clock=lambda: self.world.now_us / 1e6, pause=lambda us: None, env={}, user="root",
        )  # fmt: skip
        status = commands()[name](call)
        self.err = err.getvalue()
        return status, out.getvalue()


@pytest.fixture
def slurm():
    return Slurm()


@pytest.mark.parametrize(
    "words",
    [
        ("NodeName=n0", "State=DRAIN", "Reason=xid 79"),
        ("nodename=n0", "state=drain", "reason=xid 79"),
        ("nodename=n0", "stat=drain", "reason=xid 79"),
        ("NodeName=n[0-1]", "State=DRAIN", "Reason=xid 79"),
    ],
)
def test_a_node_is_drained_in_any_spelling(slurm, words):
    """Slurm's keys come in any case; the job on it goes on."""
    assert slurm("scontrol", "update", *words)[0] == 0
    assert slurm("sinfo", "-N", "-h", "-n", "n0", "-o", "%N %T %E")[1] == "n0 draining xid 79\n"
    assert slurm.job.phase is Phase.RUNNING


def test_a_drain_needs_a_reason(slurm):
    """As Slurm says it, with status 1."""
    assert slurm("scontrol", "update", "nodename=n0", "state=drain")[0] == 1
    assert "must specify a reason" in slurm.err


def test_states_are_in_slurms_words(slurm):
    """Idle, allocated, draining, drained, down and not responding."""
    slurm("scontrol", "update", "nodename=n1", "state=drain", "reason=a")
    slurm("scontrol", "update", "nodename=n2", "state=drain", "reason=b")
    slurm("scontrol", "update", "nodename=n3", "state=down", "reason=c")
    words = slurm("sinfo", "-N", "-h", "-o", "%t")[1].split()
    assert words == ["alloc", "drng", "drain", "down"]
    states = [
        line.split("State=")[1].split()[0]
        for line in slurm("scontrol", "show", "node", "-o")[1].splitlines()
    ]
    assert states == ["ALLOCATED", "ALLOCATED+DRAIN", "IDLE+DRAIN", "DOWN"]


def test_nodes_that_are_alike_share_a_line(slurm):
    """Without -N; their names are a list."""
    assert slurm("sinfo", "-h", "-o", "%t %D %N")[1] == "alloc 2 n[0-1]\nidle 2 n[2-3]\n"


def test_reasons_are_listed(slurm):
    """Sinfo -R shows whom it concerns, by whom and since when."""
    slurm("scontrol", "update", "nodename=n[2-3]", "state=drain", "reason=xid 119")
    printed = slurm("sinfo", "-R", "-h", "-o", "%E|%u|%N")[1]
    assert printed == "xid 119|root|n[2-3]\n"


def test_a_job_is_requeued_and_seen_by_squeue(slurm):
    """Pending with its reason, then running again where there is room."""
    assert slurm("squeue", "-h", "-o", "%i %t %R")[1] == "1001 R n[0-1]\n"
    slurm("scontrol", "update", "nodename=n0", "state=drain", "reason=bad")
    assert slurm("scontrol", "requeue", "1001")[0] == 0
    assert slurm("squeue", "-h", "-o", "%i %t")[1] == "1001 PD\n"
    slurm.world.advance(60 * SECOND_US)
    assert slurm("squeue", "-h", "-j", "1001", "-o", "%T %N")[1] == "RUNNING n[1-2]\n"
    assert slurm("squeue", "-h", "-w", "n0")[1] == ""


def test_a_node_in_json(slurm):
    """For scripts that read it with jq."""
    (node,) = json.loads(slurm("scontrol", "show", "node", "n2", "--json")[1])["nodes"]
    assert (node["name"], node["state"]) == ("n2", ["IDLE"])


def test_lists_of_hosts_are_expanded_and_joined(slurm):
    """As scontrol show hostnames and hostlist do."""
    assert slurm("scontrol", "show", "hostnames", "n[1-2,7]")[1] == "n1\nn2\nn7\n"
    assert slurm("scontrol", "show", "hostlist", "n1,n2,n7")[1] == "n[1-2,7]\n"


def test_a_reboot_waits_for_the_job(slurm):
    """With ASAP no other job begins; afterwards the node may be resumed by itself."""
    slurm("scontrol", "reboot", "ASAP", "nextstate=RESUME", "n0")
    slurm.world.advance(60 * SECOND_US)
    assert slurm.world.nodes["n0"].is_up
    slurm("scancel", "1001")
    slurm.world.advance(120 * SECOND_US)
    assert not slurm.world.nodes["n0"].is_up
    slurm.world.advance(600 * SECOND_US)
    assert slurm.world.nodes["n0"].is_up
    assert slurm.world.cluster.nodes["n0"].takes_jobs


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("update", "nodename=n9", "state=resume"), 1),
        (("show", "node", "n9"), 1),
        (("requeue", "7"), 1),
        (("show", "hostnames", "n[1-"), 1),
        (("update", "nodename=n0", "state=dance", "reason=x"), 1),
        (("frobnicate",), 1),
        (("show", "frobnicate"), 1),
        (("takeover",), NOT_UNDERSTOOD),
        (("show", "burstbuffer"), NOT_UNDERSTOOD),
    ],
)
def test_what_slurm_refuses_and_what_nobody_here_knows(slurm, words, status):
    """1 is Slurm's no; 125 says that the look-alike does not know."""
    found, printed = slurm("scontrol", *words)
    assert found == status
    assert slurm.err or printed


@given(st.lists(st.integers(0, 300), min_size=1, max_size=40, unique=True))
def test_a_list_that_is_joined_and_expanded_is_the_same(numbers):
    """Whatever hosts there are."""
    names = [f"node{number}" for number in sorted(numbers)]
    assert expand(compress(names)) == names


@pytest.mark.parametrize("text", ["", "n[", "n[a]", "n]1[", "n[0-99999999]", ",,"])
def test_what_is_no_list_is_refused(text):
    """Without taking long."""
    with pytest.raises(HostlistError):
        expand(text)
