"""A process on a GPU that should not be there."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from gputui.incidents.history import History
from gputui.incidents.rule import WARNING, Finding, Subject, rule, samples
from gputui.incidents.thresholds import Thresholds
from gputui.model import Action, NodeSample, ProcessSample

_GIB = 1 << 30


@rule(kind="UnexpectedProcess", severity=WARNING, holds=samples(3), clears=samples(3))
def unexpected_process(now: NodeSample, past: History) -> Iterator[Finding]:
    """A user, or a command line, that the config does not allow; without a config, nobody.

    ``processes.allowed_users`` and ``processes.allowed_commands`` are patterns as in a shell. For
    three samples: a job's first process becomes its program only after it was started. Of one whose
    user cannot be seen from here nothing is said.
    """
    limits = past.thresholds
    if not limits.allowed_users and not limits.allowed_commands:
        return
    gpus = {gpu.index: gpu for gpu in now.gpus}
    strangers: dict[int, list[ProcessSample]] = {}
    for process in now.processes:
        if process.gpu in gpus and _is_strange(process, limits):
            strangers.setdefault(process.pid, []).append(process)
    for pid, on in strangers.items():
        first = on[0]
        held = sum(one.memory_bytes or 0 for one in on) / _GIB
        where = ", ".join(str(one.gpu) for one in on)
        yield Finding(
            Subject.of_gpu(gpus[first.gpu]),
            cause="not-allowed",
            cause_text=f"{first.user} runs {first.command or '?'} (pid {pid})",
            action=Action.CHECK_CONFIG,
            action_text=f"ask {first.user}; end it if nobody knows it (kill {pid})",
            evidence=(f"pid {pid} of {first.user}, GPU {where}, {held:.1f} GiB: {first.command}",),
            key=str(pid),
            others=tuple(Subject.of_gpu(gpus[one.gpu]).name for one in on[1:]),
        )


def _is_strange(process: ProcessSample, limits: Thresholds) -> bool:
    if process.user is None or process.command is None:
        return False
    users, commands = limits.allowed_users, limits.allowed_commands
    return bool(
        (users and not any(fnmatchcase(process.user, one) for one in users))
        or (commands and not any(fnmatchcase(process.command, one) for one in commands))
    )
