"""The one thing that gputui does to a process: send it a signal, if it is still the same one.

It is off unless allowed. What is asked for is refused where it cannot be known whom it would hit: a
PID of another namespace or another machine, a number that has been taken over by somebody else, and
what nobody means (PID 1, gputui itself). Every attempt is written to an audit log before anything
is sent; what cannot be written is not done.
"""

from __future__ import annotations

import errno
import os
import pwd
import signal
import time
from dataclasses import dataclass
from enum import Enum

from gputui.audit import AuditError, AuditLog
from gputui.model import ProcessSample
from gputui.sources.proc_stat import read_stat

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
"""What may be sent: Ctrl-C's, a request to end, and the end."""

_NO_PIDFD = frozenset({errno.ENOSYS, errno.EPERM, errno.EACCES})
"""A kernel before 5.3, or a container whose seccomp filter does not know the call."""

_HAS_PIDFD = hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal")
"""Python has the calls only where it was built with the headers of such a kernel."""

OFF = "actions are off: start gputui with --allow-actions, or allow them in its config"
NOT_HERE = "the process is on another machine, or in a recording"


class Outcome(Enum):
    """What became of it."""

    SENT = "sent"
    GONE = "gone"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What became of it, in one sentence for people."""

    outcome: Outcome
    text: str


def end_process(
    process: ProcessSample,
    number: signal.Signals,
    *,
    allowed: bool,
    is_here: bool,
    audit: AuditLog | None = None,
) -> ActionResult:
    """Send a signal to a process as it was last seen.

    ``is_here`` says whether it was seen on this machine, now; ``allowed`` whether actions are. What
    comes back is for the one who asked; what was done is in the audit log.
    """
    if not allowed:
        return _refused(process, number, OFF)
    audit = audit or AuditLog()
    reason = _why_not(process, number, is_here=is_here)
    try:
        if reason:
            return _told(audit, process, number, _refused(process, number, reason))
        return _send(audit, process, number)
    except AuditError as error:
        return _refused(process, number, str(error))


def _why_not(process: ProcessSample, number: signal.Signals, *, is_here: bool) -> str:
    """Why not even to try; empty when there is no reason."""
    if not is_here:
        return NOT_HERE
    if number not in SIGNALS:
        return f"expected one of {', '.join(one.name for one in SIGNALS)}"
    if process.unreachable is not None:
        return process.unreachable
    if process.start_ticks is None:
        return "it is not known when the process began, so that it cannot be told from another"
    if process.pid == os.getpid():
        return "it is gputui itself; press q to end it"
    if process.pid <= 1:
        return "it is the first process, on which all others hang"
    return ""


def _send(audit: AuditLog, process: ProcessSample, number: signal.Signals) -> ActionResult:
    """Hold on to the process first, so that nobody else can get its number; then look who it is."""
    if not _HAS_PIDFD:
        return _send_checked(audit, process, number, None)
    try:
        held = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return _told(audit, process, number, _gone(process))
    except OSError as error:
        if error.errno in _NO_PIDFD:
            return _send_checked(audit, process, number, None)
        return _told(audit, process, number, _failed(process, number, error))
    try:
        return _send_checked(audit, process, number, held)
    finally:
        os.close(held)


def _send_checked(
    audit: AuditLog, process: ProcessSample, number: signal.Signals, held: int | None
) -> ActionResult:
    """Send the signal if the number's process began when the one that was seen did.

    Without a descriptor that holds the process, it could end and its number be taken in the
    microseconds between the look and the signal: that is as safe as it gets there.
    """
    stat = read_stat("/proc", process.pid)
    if stat is None or stat.has_ended:
        return _told(audit, process, number, _gone(process))
    if stat.start_ticks != process.start_ticks:
        reason = "the process that was shown has ended, and its PID is another's now"
        return _told(audit, process, number, _refused(process, number, reason))
    sent = ActionResult(Outcome.SENT, f"Sent {number.name} to {_who(process)}.")
    _told(audit, process, number, sent)
    try:
        if held is None:
            os.kill(process.pid, number)
        else:
            signal.pidfd_send_signal(held, number)
    except ProcessLookupError:
        return _told(audit, process, number, _gone(process))
    except OSError as error:
        return _told(audit, process, number, _failed(process, number, error))
    return sent


def _told(
    audit: AuditLog, process: ProcessSample, number: signal.Signals, result: ActionResult
) -> ActionResult:
    """Write down who wanted what from whom, and what became of it."""
    audit.write(
        {
            "time_s": round(time.time(), 3),
            "host": os.uname().nodename,
            "by": _me(),
            "action": "signal",
            "signal": number.name,
            "pid": process.pid,
            "start_ticks": process.start_ticks,
            "user": process.user,
            "command": process.command,
            "job": process.job,
            "gpu": process.gpu,
            "outcome": result.outcome.value,
            "text": result.text,
        }
    )
    return result


def _me() -> str:
    """Who asks: also who is behind sudo."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = str(os.getuid())
    behind = os.environ.get("SUDO_USER")
    return f"{name} (sudo by {behind})" if behind else name


def _who(process: ProcessSample) -> str:
    return f"{process.pid} ({process.command})" if process.command else str(process.pid)


def _gone(process: ProcessSample) -> ActionResult:
    return ActionResult(Outcome.GONE, f"Process {_who(process)} has ended already.")


def _refused(process: ProcessSample, number: signal.Signals, reason: str) -> ActionResult:
    return ActionResult(
        Outcome.REFUSED, f"{number.name} was not sent to {_who(process)}: {reason}."
    )


def _failed(process: ProcessSample, number: signal.Signals, error: OSError) -> ActionResult:
    why = (error.strerror or str(error)).lower()
    if error.errno == errno.EPERM:
        owner = f"it is {process.user}'s" if process.user else "it is another user's"
        why = f"{owner}, and {_me()} may not signal it"
    return ActionResult(Outcome.FAILED, f"{number.name} was not sent to {_who(process)}: {why}.")
