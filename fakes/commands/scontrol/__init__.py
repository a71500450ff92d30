"""``scontrol``: nodes and jobs as Slurm shows and changes them (scontrol(1)).

Keys come in any case and abbreviated, as Slurm takes them (``stat=dr`` is ``State=DRAIN``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.commands.scontrol.caller import (
    Caller,
    NotFoundError,
    RefusedError,
    UnknownHereError,
)
from fakes.commands.scontrol.reboots import cancel_reboot, reboot_nodes
from fakes.commands.scontrol.reservations import create, delete
from fakes.commands.scontrol.show import show
from fakes.commands.scontrol.update import update
from fakes.jobs.cluster import UnknownError
from fakes.jobs.records import ClusterJob, Phase
from fakes.slurm.client import NO_CONTROLLER, answers, ping_line, print_version
from fakes.slurm.hostlist import HostlistError
from fakes.world import World

_FLAGS = frozenset(
    {"-o", "--oneliner", "-a", "--all", "-d", "--details", "-Q", "--quiet", "-v", "--verbose",
     "--hide", "-F", "--future", "-l", "--local", "--federation", "--sibling"}
)  # fmt: skip

_ELSEWHERE = frozenset(
    {
        "abort", "cluster", "completing", "details", "errnumstr", "exit", "getaddrs", "help",
        "hide", "listpids", "notify", "oneliner", "pidinfo", "power", "quiet", "quit",
        "schedloglevel", "script", "setdebug", "setdebugflags", "shutdown", "takeover", "top",
        "verbose", "wait_job", "write", "update_jobs", "all",
    }
)  # fmt: skip
"""What the real command knows besides."""


@command("scontrol", latency_us=20_000)
def main(
    argv: Sequence[str], world: World, user: str, is_privileged: bool, stdin: TextIO | None,
    env: dict[str, str],
    out: TextIO, err: TextIO,
) -> int:  # fmt: skip
    """Do it; 1 if Slurm refuses."""
    words = [word for word in argv if word not in _FLAGS and word != "--json"]
    given = set(argv)
    if {"-V", "--version"} & given:
        return print_version(out)
    caller = Caller(
        world, user, out, err, dict(env),
        one_line=bool({"-o", "--oneliner"} & given),
        details=bool({"-d", "--details"} & given),
        as_json="--json" in given,
        is_privileged=is_privileged,
    )  # fmt: skip
    if strange := next((word for word in words if word.startswith("--")), None):
        err.write(f"scontrol: unrecognized option '{strange}'\n")
        err.write('Try "scontrol --help" for more information\n')
        return 1
    if words:
        return _do(caller, words)
    status = 0
    for line in stdin.read().splitlines() if stdin else ():
        if line.split() and line.split()[0] not in ("exit", "quit"):
            status = _do(caller, line.split()) or status
    return status


def _do(caller: Caller, words: Sequence[str]) -> int:
    name = _name(words[0])
    try:
        if name is None:
            if words[0].lower() in _ELSEWHERE:
                raise UnknownHereError(f"{words[0]}: this command is not known here")
            raise RefusedError(f"invalid keyword: {words[0]}")
        local = name in ("version",) or (name == "show" and words[1:2] and _is_local(words[1]))
        if not local and not answers(caller.world):
            raise RefusedError(f"slurm_load_ctl_conf error: {NO_CONTROLLER}")
        _VERBS[name](caller, words[1:])
    except NotFoundError as missing:
        caller.out.write(f"{missing}\n")
        return 1
    except RefusedError as refused:
        caller.err.write(f"{refused}\n")
        return 1
    except (UnknownError, HostlistError) as refused:
        caller.err.write(f"{_said_of(refused)}\n")
        return 1
    except UnknownHereError as unknown:
        caller.err.write(f"scontrol: {unknown}\n")
        return NOT_UNDERSTOOD
    return 0


def _is_local(what: str) -> bool:
    return what.lower().startswith("host")


def _said_of(error: Exception) -> str:
    if isinstance(error, HostlistError):
        return f"scontrol: error: Invalid hostlist: {error}"
    if "node" in str(error):
        return "slurm_update error: Invalid node name specified"
    return "slurm_update error: Invalid job id specified"


# --- jobs -----------------------------------------------------------------------------------------


def _each_job(act: Callable[[Caller, ClusterJob], None]) -> Callable[[Caller, Sequence[str]], None]:
    """Something that is done to jobs, one after the other: ``1001``, ``1001,1002``."""

    def run(caller: Caller, words: Sequence[str]) -> None:
        if not words:
            raise RefusedError("too few arguments for keyword")
        for name in (part for word in words for part in word.split(",")):
            try:
                job = caller.cluster.job(name.partition("=")[2] or name)
            except UnknownError as error:
                raise RefusedError(f"Invalid job id specified for job {name}") from error
            act(caller, job)

    return run


def _unfinished(job: ClusterJob) -> None:
    if not job.is_active:
        raise RefusedError(
            f"Job has already finished for job {job.number}\n"
            "slurm_suspend error: Job has already finished"
        )


def _requeue(caller: Caller, job: ClusterJob) -> None:
    _requeue_as(caller, job, held=False)


def _requeue_held(caller: Caller, job: ClusterJob) -> None:
    _requeue_as(caller, job, held=True)


def _requeue_as(caller: Caller, job: ClusterJob, *, held: bool) -> None:
    if job.phase is Phase.PENDING:
        raise RefusedError(f"Job is pending execution for job {job.number}")
    if not job.requeueable:
        raise RefusedError(f"Requested operation is presently disabled for job {job.number}")
    caller.cluster.requeue(str(job.number), held=held)


def _hold(caller: Caller, job: ClusterJob) -> None:
    _unfinished(job)
    caller.cluster.hold(str(job.number), held=True)
    job.held_by_admin = caller.is_privileged


def _hold_as_user(caller: Caller, job: ClusterJob) -> None:
    _unfinished(job)
    caller.cluster.hold(str(job.number), held=True)


def _release(caller: Caller, job: ClusterJob) -> None:
    _unfinished(job)
    caller.cluster.hold(str(job.number), held=False)


def _suspend(caller: Caller, job: ClusterJob) -> None:
    if job.phase is Phase.PENDING:
        raise RefusedError(f"Job is pending execution for job {job.number}")
    _unfinished(job)
    caller.cluster.suspend(str(job.number), suspended=True)


def _resume(caller: Caller, job: ClusterJob) -> None:
    if job.phase is Phase.PENDING:
        raise RefusedError(f"Job is pending execution for job {job.number}")
    _unfinished(job)
    caller.cluster.suspend(str(job.number), suspended=False)


# --- the rest -------------------------------------------------------------------------------------


def _ping(caller: Caller, words: Sequence[str]) -> None:
    del words
    caller.out.write(ping_line())


def _version(caller: Caller, words: Sequence[str]) -> None:
    del words
    print_version(caller.out)


def _nothing(caller: Caller, words: Sequence[str]) -> None:
    """``reconfigure`` changes nothing that anybody sees."""


def _token(caller: Caller, words: Sequence[str]) -> None:
    """A token that opens nothing: three parts, as a JSON web token has."""
    named = next((word.partition("=")[2] for word in words if word.startswith("username=")), "")
    caller.out.write(f"SLURM_JWT=eyJhbGciOiJIUzI1NiJ9.{named or caller.user}.not-a-signature\n")


_VERBS: dict[str, Callable[[Caller, Sequence[str]], None]] = {
    "show": show,
    "update": update,
    "create": create,
    "delete": delete,
    "requeue": _each_job(_requeue),
    "requeuehold": _each_job(_requeue_held),
    "hold": _each_job(_hold),
    "uhold": _each_job(_hold_as_user),
    "holdjob": _each_job(_hold),
    "release": _each_job(_release),
    "suspend": _each_job(_suspend),
    "resume": _each_job(_resume),
    "reboot": reboot_nodes,
    "reboot_nodes": reboot_nodes,
    "cancel_reboot": cancel_reboot,
    "ping": _ping,
    "reconfigure": _nothing,
    "reconfig": _nothing,
    "token": _token,
    "version": _version,
}
_LEAST = 3


def _name(word: str) -> str | None:
    """Slurm takes the beginning of a word, if it is long enough to be meant."""
    lower = word.lower()
    if lower in _VERBS:
        return lower
    if len(lower) < _LEAST:
        return None
    return next((name for name in _VERBS if name.startswith(lower)), None)
