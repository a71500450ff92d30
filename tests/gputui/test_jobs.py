"""Which job a process belongs to, from its cgroup and its environment."""

import pytest

from gputui.sources.jobs import Job, job_of

ID = b"f45298cd514d1930c4fe3afc4412e59547f7e3148fddd22ca33cefce046eb830"
UID = b"dd1bf9d1_241d_47f5_8e25_12de83135812"
PODS = b"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + UID + b".slice/"
IN_KUBERNETES = b"KUBERNETES_SERVICE_HOST=10.96.0.1\0"


@pytest.mark.parametrize(
    ("cgroup", "job"),
    [
        (b"0::/system.slice/slurmstepd.scope/job_123/step_0/user/task_0\n", Job("123", "slurm")),
        (b"0::/system.slice/n7_slurmstepd.scope/job_5/step_batch/user\n", Job("5", "slurm")),
        (b"5:memory:/slurm/uid_1000/job_42/step_0/task_0\n4:cpu:/\n", Job("42", "slurm")),
        (b"5:memory:/slurm_n7/uid_1000/job_42/step_0\n", Job("42", "slurm")),
        (PODS + b"cri-containerd-" + ID + b".scope\n", Job("pod dd1bf9d1", "pod")),
        (PODS + b"crio-" + ID + b".scope\n", Job("pod dd1bf9d1", "pod")),
        (b"0::/kubepods/burstable/pod" + UID.replace(b"_", b"-") + b"/" + ID + b"\n",
         Job("pod dd1bf9d1", "pod")),
        (b"0::/kubepods/besteffort/pod" + UID.replace(b"_", b"") + b"/" + ID + b"\n",
         Job("pod dd1bf9d1", "pod")),
        (b"4:cpu:/docker/" + ID + b"\n", Job("docker f45298cd514d", "container")),
        (b"0::/system.slice/docker-" + ID + b".scope\n", Job("docker f45298cd514d", "container")),
        (b"0::/machine.slice/libpod-" + ID + b".scope/container\n",
         Job("podman f45298cd514d", "container")),
        (b"0::/default/" + ID + b"\n", Job("container f45298cd514d", "container")),
        (b"0::/\n", None),
        (b"0::/user.slice/user-1000.slice/session-3.scope\n", None),
        (b"0::/user.slice/job_77/pod/docker\n", None),
        (b"", None),
        (b"\xff\xfe/job_1\0", None),
    ],
)  # fmt: skip
def test_a_cgroup_path_names_the_job(cgroup, job):
    """Both versions of cgroups, both drivers of Kubernetes, and the common runtimes."""
    assert job_of(cgroup, b"") == job


@pytest.mark.parametrize(
    ("environment", "job"),
    [
        (b"HOME=/root\0SLURM_JOB_ID=4711\0", Job("4711", "slurm")),
        (b"LSB_JOBID=9\0", Job("9", "lsf")),
        (b"PBS_JOBID=123.head\0", Job("123.head", "pbs")),
        (b"SLURM_JOB_ID=\0", None),
        (b"SLURM_JOB_ID=1\0SLURM_JOB_ID=2\0", Job("1", "slurm")),
        (b"MY_SLURM_JOB_ID=1\0SLURM_JOB_IDS=2\0", None),
        (b"SLURM_JOB_ID=\x1b[31m\xff\0", Job("\ufffd[31m\ufffd", "slurm")),
        (IN_KUBERNETES + b"HOSTNAME=trainer-0\0", Job("trainer-0", "pod")),
        (IN_KUBERNETES + b"HOSTNAME=trainer-0\0POD_NAME=t0\0", Job("t0", "pod")),
        (IN_KUBERNETES + b"HOSTNAME=node-a\0", None),
        (b"HOSTNAME=laptop\0POD_NAME=x\0", None),
    ],
)
def test_an_environment_names_the_job(environment, job):
    """Where cgroups say nothing: schedulers by their variables, pods by their name."""
    assert job_of(b"0::/\n", environment, host="node-a") == job


def test_a_pod_is_called_by_its_name_where_it_can_be_read():
    """The cgroup tells only its uid, which serves where the environment may not be read."""
    cgroup = PODS + b"cri-containerd-" + ID + b".scope\n"
    assert job_of(cgroup, b"HOSTNAME=trainer-0\0") == Job("trainer-0", "pod")
    assert job_of(cgroup, b"HOSTNAME=node-a\0", host="node-a") == Job("pod dd1bf9d1", "pod")


def test_a_job_is_what_people_know_it_by():
    """A scheduler's job in a pod is the job; what the scheduler's own cgroup says comes first."""
    pod = PODS + b"cri-containerd-" + ID + b".scope\n"
    assert job_of(pod, b"SLURM_JOB_ID=7\0") == Job("7", "slurm")
    slurm = b"0::/system.slice/slurmstepd.scope/job_123/step_0\n"
    assert job_of(slurm, b"SLURM_JOB_ID=666\0") == Job("123", "slurm")


def test_a_very_long_name_is_cut():
    """An environment can hold anything."""
    job = job_of(b"", b"SLURM_JOB_ID=" + b"9" * 100_000 + b"\0")
    assert job is not None
    assert len(job.id) == 253
