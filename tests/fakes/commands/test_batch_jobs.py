"""Jobs that are submitted: how they wait, run, end, and what is told of them."""

import io

import pytest

from fakes.actions import Effect
from fakes.commands.registry import Call, commands
from fakes.jobs.process import JobSpec
from fakes.jobs.records import Phase
from fakes.node import Node
from fakes.profile import load_profile
from fakes.slurm.environment import prolog_environment, task_environment
from fakes.world import World

SECOND_US = 1_000_000

SCRIPT = """\
#!/bin/bash
#SBATCH --job-name=check
#SBATCH --nodes=2 --gpus-per-node=4   # half of each
#SBATCH -t 10:00
sleep 90
exit 3
"""


class Slurm:
    """Four idle nodes, and the commands of a plain caller without a process of its own."""

    def __init__(self):
        profile = load_profile("h100-sxm")
        self.world = World([Node(f"n{i}", profile, 8) for i in range(4)], schedules=True)
        self.files = {"job.sh": SCRIPT}
        self.err = ""

    def __call__(self, name, *argv, user="root"):
        out, err = io.StringIO(), io.StringIO()

        def read(path):
            if path not in self.files:
                raise FileNotFoundError(path)
            return self.files[path]

        call = Call(
            argv=argv, out=out, err=err, node=self.world.nodes["n0"], world=self.world, nvml=None,
            clock=lambda: 0.0, pause=self.wait, env={}, user=user, read_file=read, cwd="/home/x",
        )  # fmt: skip
        status = commands()[name](call)
        self.err = err.getvalue()
        return status, out.getvalue()

    def wait(self, us):
        self.world.advance(self.world.now_us + us)

    def job(self, number):
        return self.world.cluster.jobs[int(number)]


@pytest.fixture
def slurm():
    return Slurm()


def test_a_script_runs_as_its_lines_ask(slurm):
    """Two nodes with four GPUs each, for as long as it sleeps; its exit status is the job's."""
    noted = []
    slurm.world.cluster.actions.listen(noted.append)
    assert slurm("sbatch", "job.sh") == (0, "Submitted batch job 1001\n")
    job = slurm.job(1001)
    assert (job.title, job.nodes, job.phase) == ("check", ("n0", "n1"), Phase.RUNNING)
    assert len(slurm.world.nodes["n1"].processes) == 4
    assert [action.effect for action in noted] == [Effect.SUBMIT]
    slurm.wait(91 * SECOND_US)
    assert (job.phase, job.exit_code) == (Phase.FAILED, 3)
    assert not slurm.world.nodes["n1"].processes


def test_jobs_share_a_node_as_far_as_its_gpus_go(slurm):
    """A third that wants more than is left waits."""
    words = ("--parsable", "-w", "n2", "--wrap", "sleep 60")
    first, second, third = (
        slurm("sbatch", f"--gres=gpu:{count}", *words)[1].strip() for count in (4, 4, 1)
    )
    assert slurm.job(first).specs["n2"].gpus == (0, 1, 2, 3)
    assert slurm.job(second).specs["n2"].gpus == (4, 5, 6, 7)
    assert slurm.job(third).phase is Phase.PENDING
    assert slurm("sinfo", "-h", "-n", "n2", "-o", "%T")[1] == "mixed\n"
    slurm.wait(61 * SECOND_US)
    assert slurm.job(third).phase is Phase.RUNNING


def test_a_job_that_takes_too_long_is_ended(slurm):
    """Its state is TIMEOUT."""
    number = slurm("sbatch", "--parsable", "-t", "1", "--wrap", "sleep 600")[1].strip()
    slurm.wait(61 * SECOND_US)
    assert slurm("squeue", "-t", "all", "-h", "-j", number, "-o", "%T")[1] == "TIMEOUT\n"


def test_accounting_tells_what_became_of_jobs(slurm):
    """Jobs alone with -X, their steps otherwise; others' jobs are not shown to a user."""
    slurm("sbatch", "-J", "good", "--wrap", "sleep 5")
    slurm("sbatch", "job.sh")
    slurm.wait(100 * SECOND_US)
    form = ("-n", "-P", "-o", "jobid,jobname,state,exitcode,elapsed")
    rows = slurm("sacct", "-X", *form)[1].splitlines()
    assert rows == ["1001|good|COMPLETED|0:0|00:00:05", "1002|check|FAILED|3:0|00:01:30"]
    steps = slurm("sacct", "-j", "1001", *form)[1].splitlines()
    assert [row.split("|")[0] for row in steps] == ["1001", "1001.batch", "1001.extern"]
    slurm.world.nodes["n0"].jobs["own"] = JobSpec("own", (), user="bob")
    assert slurm("sacct", "-X", *form, user="bob")[1] == ""
    assert slurm("sacct", "-X", "-S", "now-1hour", "-s", "F", *form)[1].startswith("1002|")
    assert slurm("sacct", "-o", "nonsense")[0] == 1


def test_a_user_cannot_cancel_anothers_job(slurm):
    """And root can, and whoever plays the operator."""
    spec = JobSpec("train", tuple(range(8)))
    slurm.world.nodes["n0"].start_job(spec, 0)
    slurm.world.nodes["n0"].jobs["own"] = JobSpec("own", (), user="bob")
    job = slurm.world.cluster.add("train", {"n0": spec})
    assert slurm("scancel", str(job.number), user="bob")[0] == 1
    assert "Access/permission denied" in slurm.err
    assert slurm("scancel", str(job.number))[0] == 0
    assert job.phase is Phase.CANCELLED


def test_a_node_whose_daemon_is_silent_does_not_respond(slurm):
    """Its state has a star."""
    slurm.world.nodes["n3"].services.stop("slurmd.service", slurm.world)
    assert slurm("sinfo", "-h", "-n", "n3", "-o", "%t")[1] == "idle*\n"


def test_a_job_and_its_prolog_are_told_who_and_where_they_are(slurm):
    """The job's processes with ranks and GPUs; the prolog with little else than the job."""
    slurm("sbatch", "job.sh")
    job = slurm.job(1001)
    task = task_environment(slurm.world, job, "n1")
    assert (task["SLURM_PROCID"], task["SLURM_NODEID"], task["SLURM_JOB_NODELIST"]) == (
        "1", "1", "n[0-1]",
    )  # fmt: skip
    prolog = prolog_environment(slurm.world, job, "n0")
    assert prolog["CUDA_VISIBLE_DEVICES"] == prolog["SLURM_JOB_GPUS"] == "0,1,2,3"
    assert prolog["SLURM_SCRIPT_CONTEXT"] == "prolog_slurmd"
    assert "SLURM_PROCID" not in prolog
