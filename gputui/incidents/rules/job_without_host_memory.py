"""A job's process that the kernel killed because the host's memory was used up."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.host_words import may_be_a_jobs, node_of, on_a_gpu
from gputui.incidents.job_causes import HOST_MEMORY
from gputui.incidents.rule import INFO, WARNING, Finding, Subject, after, lines, log_rule
from gputui.logs.kernel import KernelEvent
from gputui.model import Action

_OF_OTHERS = "host-memory-of-others"
_CGROUP = "Memory cgroup"


@log_rule(kind="JobFailed", severity=WARNING, clears=after(hours=1), hears=lines("oom_kill"))
def job_without_host_memory(event: KernelEvent, past: History) -> Iterator[Finding]:
    """The kernel's word on whom it killed. On a GPU, or called as the processes of jobs are, it is
    a job's failure; of any other process it is information.
    """
    process, is_jobs = on_a_gpu(event, past), may_be_a_jobs(event, past)
    whom = f"{event.process} (pid {event.pid})"
    limit = "the memory limit of its cgroup" if _CGROUP in event.detail else "the host's memory"
    subject = node_of(event, past)
    if process is not None and process.job is not None:
        subject = Subject(Subject.of_job(process.job).name, process.gpu)
    yield Finding(
        subject,
        key=HOST_MEMORY if is_jobs else _OF_OTHERS,
        cause="application",
        cause_text=f"the kernel killed {whom}: {limit} was used up",
        action=Action.RESTART_APP,
        action_text="give the job more host memory, or let it use less: fewer data loader workers, "
        "smaller buffers, no copies in each worker; then start it again",
        evidence=(event.text,),
        severity=WARNING if is_jobs else INFO,
    )
