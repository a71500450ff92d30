"""The forms in which public scripts call schedulers and remote shells are all known.

Each is called on a healthy fleet, and on one with a lost GPU, a drained node and one that is down.
"""

import io
import shlex

import pytest

from fakes.commands.registry import NOT_UNDERSTOOD, Call, commands
from fakes.driver.xid import raise_xid
from fakes.hardware.recovery import power_off
from fakes.jobs.process import JobSpec
from fakes.node import Node
from fakes.profile import load_profile
from fakes.world import World

SLURM = """
sinfo
sinfo -N -h -o "%N %T %G %R %E"
sinfo -N -h -n n1 -o "%N %t"
sinfo -h -p batch -t idle -o %N
sinfo --nodes=n1 --noheader --format=%T
sinfo -R
sinfo -R -h -o "%E %N"
sinfo -R -l
sinfo --json
sinfo -h -t drain,drng,down,fail -o "%n %E"
sinfo -a -s
sinfo --Format=nodelist,statelong,gres
scontrol update NodeName=n1 State=DRAIN Reason="gpu check failed"
scontrol update nodename=n1 state=drain reason=x
scontrol update nodename=n1 state=down reason=x
scontrol update nodename=n1 state=resume
scontrol update nodename=n1 state=undrain
scontrol update node=n1 stat=fail reason=x
scontrol update NodeName=n1 Comment=x
scontrol update NodeName=n1 AvailableFeatures=h100,x ActiveFeatures=h100,x
scontrol show hostnames n[0-3]
scontrol show hostname n[0-3]
scontrol show hostlist n0,n1
scontrol show hostlistsorted n1,n0
scontrol show nodes
scontrol show node n1 -o
scontrol show node n1 --oneliner
scontrol -a show node n1
scontrol show nodes --json
scontrol show node n1 --json
scontrol show config
scontrol show partition
scontrol show reservation
scontrol show topology
scontrol reboot ASAP nextstate=RESUME n2
scontrol reboot n2
scontrol requeue 1001
scontrol reconfigure
scontrol token
scontrol token lifespan=3600 username=slurm
scontrol show job
scontrol show job 1001
scontrol show job 1001 -o
scontrol show job 1001 -d
scontrol show job 1001 --json
scontrol ping
squeue -h -o "%i %T"
squeue -h -u alice -t R -o %i
squeue -w n1 -h -o %A
squeue -j 1001 -h -o %T
squeue --me -t RUNNING,PENDING
squeue --json
sacct -n -P -X -o JobID,State,ExitCode,NodeList -j 1001
sacct -S now-1day -n -P -o jobid,state
sbatch --parsable --wrap "nvidia-smi"
sbatch --parsable -N 2 --exclusive --gpus-per-node=8 --wrap "srun nvidia-smi"
sbatch -w n3 -J check --time=10 --output=/tmp/x --wrap true
srun -N 1 -n 1 hostname
srun --nodes=2 --ntasks-per-node=1 -l nvidia-smi -L
srun -w n0 --gres=gpu:8 nvidia-smi
scancel 1001
scancel -n train
scancel -u alice
slurmd -C
slurmd -V
sdiag
"""

SHELLS = """
ssh n1 nvidia-smi -L
ssh -o StrictHostKeyChecking=no -o ConnectTimeout=5 -o BatchMode=yes n1 "nvidia-smi -L | wc -l"
ssh root@n1 sudo reboot
pdsh -w n[0-1] nvidia-smi -L
pdsh -R ssh -t 5 -f 10 -w n0,n1 "dmesg | grep -c Xid"
pdsh -N -S -w n1 hostname
clush -w n[0-1] nvidia-smi -L
clush -S -w n1 hostname
parallel-ssh -i -H "n0 n1" nvidia-smi -L
logger -t healthcheck -p daemon.err "gpu lost"
logger -s -t nhc text
"""

OWN = """
sudo nvidia-smi
sudo -n -E nvidia-smi -q
sudo -u root dmesg
sudo -i nvidia-smi
sudo -H -S -n -u root /bin/sh -c true
su -c nvidia-smi
su - root -c nvidia-smi
chroot / nvidia-smi
chroot /host nvidia-smi -L
chroot /run/nvidia/driver nvidia-smi
nsenter --target 1 --mount -- nvidia-smi -q
nsenter -t 1 -m -u -i -n -p -- systemctl is-active kubelet
docker run --rm --gpus all nvcr.io/nvidia/cuda:12.4.1-base-ubuntu22.04 nvidia-smi
docker ps -q
crictl ps
"""

KUBERNETES = """
kubectl get nodes
kubectl get node n1 -o json
kubectl get node n1 -o jsonpath={.status.allocatable}
kubectl get nodes -o wide
kubectl get node n1 -o yaml
kubectl get nodes -o custom-columns=NAME:.metadata.name,UNSCHED:.spec.unschedulable --no-headers
kubectl describe node n1
kubectl get pods -A --field-selector spec.nodeName=n1 -o json
kubectl get pods -n default -l job-name=train -o name
kubectl get events -A --sort-by=.lastTimestamp
kubectl cordon n1
kubectl uncordon n1
kubectl drain n1 --ignore-daemonsets --delete-emptydir-data --force --timeout=300s
kubectl drain n1 --ignore-daemonsets --grace-period=0 --dry-run=client
kubectl taint nodes n1 gpu=bad:NoSchedule --overwrite
kubectl label node n1 health=bad --overwrite
kubectl annotate node n1 why=x --overwrite
kubectl delete pod -l job-name=train --force --grace-period=0
kubectl version --client
kubectl config current-context
kubectl get ds -n gpu-operator
kubectl rollout status ds/nvidia-device-plugin-daemonset -n gpu-operator --timeout=5s
"""


MOST_PAUSES = 30


class Became(Exception):  # noqa: N818
    """The caller is another program now, or waits for what does not come."""


def build(scheduler, *, faulty):
    """A fleet of four nodes with a job on two of them."""
    profile = load_profile("h100-sxm")
    world = World([Node(f"n{i}", profile, 8) for i in range(4)], schedules=True)
    world.cluster.scheduler = scheduler
    for node in world.nodes.values():
        node.scheduler = scheduler
    specs = {f"n{i}": JobSpec("train", tuple(range(8))) for i in range(2)}
    for name, spec in specs.items():
        world.nodes[name].start_job(spec, 0)
    world.cluster.add("train", specs)
    if faulty:
        raise_xid(world.nodes["n1"], world.nodes["n1"].gpus[3], 79, 0)
        world.cluster.drain("n2", "bad", "root")
        power_off(world, world.nodes["n3"])
    return world


def call(world, line):
    """The exit status of a call; None where it became what it was to run."""
    words = shlex.split(line)
    out, err = io.StringIO(), io.StringIO()

    pauses = []

    def become(words):
        raise Became

    def pause(us):
        pauses.append(us)
        if len(pauses) > MOST_PAUSES:
            raise Became
        world.advance(world.now_us + us)

    try:
        return commands()[words[0]](
            Call(
                argv=words[1:],
                out=out,
                err=err,
                node=world.nodes["n0"],
                world=world,
                nvml=None,
                clock=lambda: world.now_us / 1e6,
                pause=pause,
                env={},
                user="root",
                become=become,
                spawn=lambda words, for_us: 0,
                stdin=io.StringIO(),
                program=words[0],
            )
        ), err.getvalue()
    except Became:
        return None, ""


def lines(text):
    return text.strip().splitlines()


@pytest.mark.parametrize("faulty", [False, True], ids=["healthy", "faulty"])
@pytest.mark.parametrize("line", lines(SLURM) + lines(SHELLS))
def test_a_form_in_use_is_known_where_slurm_is(line, faulty):
    """It is done or refused, and never 125."""
    status, said = call(build("slurm", faulty=faulty), line)
    assert status is not NOT_UNDERSTOOD, said


@pytest.mark.parametrize("line", lines(OWN))
def test_what_passes_on_becomes_the_command(line):
    """Or is done."""
    status, said = call(build("slurm", faulty=False), line)
    assert status in (None, 0), said


@pytest.mark.parametrize("faulty", [False, True], ids=["healthy", "faulty"])
@pytest.mark.parametrize("line", lines(KUBERNETES))
def test_a_form_in_use_is_known_where_kubernetes_is(line, faulty):
    """It is done or refused, and never 125."""
    status, said = call(build("kubernetes", faulty=faulty), line)
    assert status is not NOT_UNDERSTOOD, said
