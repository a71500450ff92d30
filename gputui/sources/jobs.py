"""Which job a process belongs to: a scheduler's, a pod's, or a container's.

Cgroup paths are written by whoever started the job, and are believed first; a process's environment
can say anything, but is often the only one to tell a name.

==========  ===============================================================================
Slurm       ``.../slurmstepd.scope/job_123/step_0/...`` (v2), ``/slurm/uid_1000/job_123/...`` (v1)
Kubernetes  ``.../kubepods-burstable-pod<uid>.slice/cri-containerd-<id>.scope`` (systemd),
            ``/kubepods/burstable/pod<uid>/<id>`` (cgroupfs)
containers  ``/docker/<id>``, ``docker-<id>.scope``, ``libpod-<id>.scope``
==========  ===============================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gputui.text import decoded

_SLURM = re.compile(rb"/(?:[\w.-]*slurm[\w.-]*)/(?:[^/\n]+/)?job_(\d+)")
_POD = re.compile(rb"[/-]pod([0-9a-f]{8}(?:[-_]?[0-9a-f]{4}){3}[-_]?[0-9a-f]{12})[./\n]")
_CONTAINER = re.compile(rb"[/-](docker|libpod|crio|containerd)?[-/:]?([0-9a-f]{64})(?:\.scope)?\b")
_RUNTIMES = {b"libpod": "podman", b"crio": "cri-o"}
_SHORT_ID = 12
_SHORT_UID = 8

_SCHEDULERS = ((b"SLURM_JOB_ID", "slurm"), (b"LSB_JOBID", "lsf"), (b"PBS_JOBID", "pbs"))
_IN_KUBERNETES = b"KUBERNETES_SERVICE_HOST"
_MOST_CHARACTERS = 253
"""The longest name that Kubernetes gives a pod."""


@dataclass(frozen=True, slots=True)
class Job:
    """As :class:`gputui.model.ProcessSample` has it: what it is called, and what it is."""

    id: str
    kind: str


def job_of(cgroup: bytes, environment: bytes, host: str = "") -> Job | None:
    """The job of a process with this /proc/PID/cgroup and /proc/PID/environ.

    Either may be empty where it could not be read. ``host`` is this machine's name, which a pod on
    the machine's own network has in place of its own.
    """
    slurm = _SLURM.search(cgroup)
    if slurm:
        return Job(slurm[1].decode(), "slurm")
    told = _variables(environment)
    for variable, kind in _SCHEDULERS:
        if told.get(variable):
            return Job(told[variable], kind)
    pod = _pod(cgroup, told, host)
    if pod is not None:
        return Job(pod, "pod")
    container = _CONTAINER.search(cgroup)
    if container:
        runtime = _RUNTIMES.get(container[1]) or (container[1] or b"container").decode()
        return Job(f"{runtime} {container[2][:_SHORT_ID].decode()}", "container")
    return None


def _pod(cgroup: bytes, told: dict[bytes, str], host: str) -> str | None:
    """A pod's name where its environment has it, else the start of its uid.

    ``POD_NAME`` is what manifests usually call it; the host's name is the pod's unless it was asked
    to be the machine's.
    """
    uid = _POD.search(cgroup)
    if uid is None and _IN_KUBERNETES not in told:
        return None
    named = told.get(b"POD_NAME") or told.get(b"HOSTNAME")
    if named and named != host:
        return named
    return None if uid is None else f"pod {uid[1][:_SHORT_UID].decode()}"


def _variables(environment: bytes) -> dict[bytes, str]:
    """The variables that matter; the first of a name counts, as getenv(3) has it."""
    wanted = {name for name, _ in _SCHEDULERS} | {_IN_KUBERNETES, b"POD_NAME", b"HOSTNAME"}
    told: dict[bytes, str] = {}
    for entry in environment.split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if equals and name in wanted:
            told.setdefault(name, decoded(value)[:_MOST_CHARACTERS])
    return told
