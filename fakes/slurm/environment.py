"""The environment that Slurm gives to what a job runs, and to prologs and epilogs.

The variables are those of sbatch(1), srun(1) and Slurm's guide to prologs and epilogs, with the
values that a slurmd 22.05.8 set.
"""

from __future__ import annotations

from fakes.jobs.records import ClusterJob
from fakes.slurm.hostlist import compress
from fakes.slurm.jobs import JobView
from fakes.slurm.states import CONTROLLER, CPUS, PARTITION
from fakes.slurm.users import user_number
from fakes.world import World


def job_environment(world: World, job: ClusterJob) -> dict[str, str]:
    """What is the same for all that a job runs."""
    view = JobView(world, job)
    count, nodes = job.node_count, compress(job.nodes)
    each = view.cpus // max(count, 1)
    per_node = view.tasks // max(count, 1)
    variables = {
        "SLURM_CLUSTER_NAME": "cluster",
        "SLURM_CPUS_ON_NODE": str(each),
        "SLURM_JOBID": str(job.number),
        "SLURM_JOB_CPUS_PER_NODE": _times(each, count),
        "SLURM_JOB_GID": str(user_number(job.user)),
        "SLURM_JOB_ID": str(job.number),
        "SLURM_JOB_NAME": job.title,
        "SLURM_JOB_NODELIST": nodes,
        "SLURM_JOB_NUM_NODES": str(count),
        "SLURM_JOB_PARTITION": PARTITION,
        "SLURM_JOB_UID": str(user_number(job.user)),
        "SLURM_JOB_USER": job.user,
        "SLURM_NNODES": str(count),
        "SLURM_NODELIST": nodes,
        "SLURM_SUBMIT_DIR": view.work_dir,
        "SLURM_SUBMIT_HOST": CONTROLLER,
        "SLURM_TASKS_PER_NODE": _times(per_node, count),
    }
    if job.gpus_per_node:
        variables["SLURM_GPUS_ON_NODE"] = str(job.gpus_per_node)
        variables["SLURM_GPUS_PER_NODE"] = str(job.gpus_per_node)
    if job.request is not None and job.request.tasks > 1:
        variables["SLURM_NTASKS_PER_NODE"] = str(per_node)
    return variables


def task_environment(world: World, job: ClusterJob, node: str, local_id: int = 0) -> dict[str, str]:
    """What one of its processes on a node has besides."""
    view = JobView(world, job)
    names = list(job.nodes)
    at = names.index(node) if node in names else 0
    per_node = view.tasks // max(job.node_count, 1)
    rank = at * per_node + local_id
    variables = {
        **job_environment(world, job),
        "SLURMD_NODENAME": node,
        "SLURM_GTIDS": ",".join(str(at * per_node + i) for i in range(per_node)),
        "SLURM_LOCALID": str(local_id),
        "SLURM_NODEID": str(at),
        "SLURM_PROCID": str(rank),
        "SLURM_TOPOLOGY_ADDR": node,
        "SLURM_TOPOLOGY_ADDR_PATTERN": "node",
    }
    if node in job.specs and job.specs[node].gpus:
        gpus = ",".join(str(gpu) for gpu in job.specs[node].gpus)
        variables |= {"CUDA_VISIBLE_DEVICES": gpus, "SLURM_JOB_GPUS": gpus}
    return variables


def prolog_environment(
    world: World, job: ClusterJob, node: str, context: str = "prolog_slurmd"
) -> dict[str, str]:
    """What a prolog or an epilog of slurmd gets for a job on a node: a few facts, and no more.

    ``context`` is ``prolog_slurmd`` or ``epilog_slurmd``. Nothing of the job's own environment is
    there; a prolog's PATH is slurmd's.
    """
    variables = {
        "SLURMD_NODENAME": node,
        "SLURM_CLUSTER_NAME": "cluster",
        "SLURM_CONF": "/etc/slurm/slurm.conf",
        "SLURM_JOBID": str(job.number),
        "SLURM_JOB_CPUS_PER_NODE": _times(CPUS, job.node_count),
        "SLURM_JOB_GID": str(user_number(job.user)),
        "SLURM_JOB_ID": str(job.number),
        "SLURM_JOB_NAME": job.title,
        "SLURM_JOB_NODELIST": compress(job.nodes),
        "SLURM_JOB_PARTITION": PARTITION,
        "SLURM_JOB_UID": str(user_number(job.user)),
        "SLURM_JOB_USER": job.user,
        "SLURM_NODELIST": compress(job.nodes),
        "SLURM_SCRIPT_CONTEXT": context,
        "SLURM_UID": str(user_number(job.user)),
        "SLURM_WCKEY": "",
    }
    if node in job.specs and job.specs[node].gpus:
        gpus = ",".join(str(gpu) for gpu in job.specs[node].gpus)
        variables |= {"SLURM_JOB_GPUS": gpus, "CUDA_VISIBLE_DEVICES": gpus, "GPU_DEVICE_ORDINAL":
                      gpus}  # fmt: skip
    return variables


def _times(number: int, count: int) -> str:
    """Slurm's way of saying the same for several nodes: ``1(x2)``."""
    return f"{number}(x{count})" if count > 1 else str(number)
