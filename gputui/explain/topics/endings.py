"""How a process ended: its exit code, or the signal that ended it.

A shell, and with it Docker, Kubernetes and Slurm, tells a signal as 128 and its number; Python's
launchers tell it as a negative number (signal(7), bash(1), the subprocess module).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gputui.explain.explanation import Explanation, next_steps
from gputui.facts.compat import Version
from gputui.model import Action

KNOWN = "an exit code or a signal (-9, exit code 137, SIGBUS)"

_CODE = re.compile(
    r"\(?(?:(?:exit(?:ed)?\s*(?:with\s*)?(?:code|status)?|return\s*code|status|rc)\s*[:=]?\s*"
    r"(?P<exit>-?\d{1,3})|(?P<negative>-\d{1,2})|(?P<bare>1[2-5]\d))\)?",
    re.IGNORECASE,
)
_SIGNAL = re.compile(r"(?:signal\s*[:=]?\s*(?P<number>\d{1,2})|(?P<name>SIG[A-Z]+\d?))", re.I)
_BY_SIGNAL = 128
_LAST_SIGNAL = 64


@dataclass(frozen=True, slots=True)
class _Ending:
    name: str
    meaning: str
    advice: str
    action: Action = Action.RESTART_APP
    steps: tuple[str, ...] = ()


_TRACE = ("faulthandler: python3 -X faulthandler COMMAND", "gdb -batch -ex bt PROGRAM core")
_SIGNALS = {
    1: _Ending("SIGHUP", "its terminal or its session ended",
               "run it under sbatch, tmux or nohup"),
    2: _Ending("SIGINT", "somebody interrupted it (ctrl-C)", "nothing, if it was meant"),
    4: _Ending("SIGILL", "an instruction that this processor does not have",
               "install a build for this processor", Action.CHECK_CONFIG, ("lscpu | grep Flags",)),
    6: _Ending("SIGABRT", "it gave up by itself: a failed assertion, a C++ exception that nobody "
               "caught, or NCCL's watchdog after a time-out", "read what it said just before",
               steps=_TRACE),
    7: _Ending("SIGBUS", "memory that is mapped could not be had: mostly /dev/shm is full or too "
               "small for data loaders and NCCL; else a mapped file on a broken disk",
               "give it more shared memory (--shm-size=16g; in Kubernetes an emptyDir with medium: "
               "Memory)", Action.CHECK_CONFIG, ("df -h /dev/shm", "dmesg -T | tail")),
    8: _Ending("SIGFPE", "a division by zero on the host", "look into its own code", steps=_TRACE),
    9: _Ending("SIGKILL", "it was killed from outside, without a chance to say why: mostly by the "
               "kernel for want of host memory, else by a scheduler, a container's limit or a "
               "person", "see whether memory was used up; else who ended it",
               steps=("dmesg -T | grep -i -e 'out of memory' -e oom-kill",
                      "sacct -j JOB -o State,MaxRSS,ExitCode")),
    11: _Ending("SIGSEGV", "it touched memory that is not its own: a fault in a library, or "
                "libraries that do not fit together", "see in which library it failed",
                steps=("dmesg -T | grep segfault", *_TRACE)),
    13: _Ending("SIGPIPE", "it wrote to a pipe or a socket that nobody reads any more",
                "look for the reader's end: that came first"),
    15: _Ending("SIGTERM", "it was asked to end: by a launcher after another rank had failed, by a "
                "scheduler at its time limit or for preemption, or by a person",
                "look for the rank that failed first, or for the scheduler's reason",
                steps=("sacct -j JOB -o State,Reason,ExitCode",)),
    24: _Ending("SIGXCPU", "it used up its processor time", "raise ulimit -t"),
}  # fmt: skip
_CODES = {
    0: _Ending("", "it ended well", "nothing", Action.IGNORE),
    1: _Ending("", "it failed, and said why: in Python an exception that nobody caught",
               "read the last lines that it printed, of the rank that failed first"),
    2: _Ending("", "it was called wrongly", "check its arguments", Action.CHECK_CONFIG),
    124: _Ending("", "timeout(1) ended it: it took too long", "see what it waited for"),
    125: _Ending("", "the container runtime itself failed", "read the runtime's own words",
                 Action.CHECK_CONFIG),
    126: _Ending("", "the program may not be run, or is none", "check its rights and its format",
                 Action.CHECK_CONFIG),
    127: _Ending("", "there is no such program, or the loader misses a library of it",
                 "check PATH and ldd", Action.CHECK_CONFIG),
    255: _Ending("", "a status out of range, or ssh or srun could not reach the node",
                 "read what was said before it"),
}  # fmt: skip


def explain(question: str, driver: Version | None) -> Explanation | None:
    """An exit code or a signal, as launchers, schedulers and shells write it."""
    text = question.strip()
    if found := _SIGNAL.fullmatch(text):
        return _of_signal(_number_of(found["name"]) if found["name"] else int(found["number"]))
    found = _CODE.fullmatch(text)
    if found is None:
        return None
    return of_exit_code(int(found["exit"] or found["negative"] or found["bare"]))


def of_exit_code(code: int) -> Explanation | None:
    """What a code says; None where it is the program's own matter."""
    if -_LAST_SIGNAL <= code < 0:
        return _of_signal(-code)
    if code in _CODES:
        return _explanation(f"exit code {code}", _CODES[code])
    if _BY_SIGNAL < code <= _BY_SIGNAL + _LAST_SIGNAL:
        return _of_signal(code - _BY_SIGNAL)
    return None


def _number_of(name: str) -> int:
    return next((number for number, one in _SIGNALS.items() if one.name == name.upper()), 0)


def _of_signal(number: int) -> Explanation | None:
    ending = _SIGNALS.get(number)
    if ending is None:
        return None
    title = f"{ending.name}  signal {number}, exit code {_BY_SIGNAL + number} or -{number}"
    return _explanation(title, ending)


def _explanation(title: str, ending: _Ending) -> Explanation:
    return Explanation(
        about="ending",
        title=title,
        meaning=f"{ending.meaning[0].upper()}{ending.meaning[1:]}",
        action=ending.action,
        action_text=ending.advice,
        source="signal(7), bash(1), docker-run(1)",
        next_steps=ending.steps or next_steps(ending.action),
    )
