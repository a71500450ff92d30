"""What stands before the words of a job's line: who said it, when, and how gravely.

Launchers, schedulers, container runtimes and loggers each put something in front of the same words,
one before the other::

    node-3: [rank3]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 3] Watchdog caught ...
    n2:4711:4790 [3] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to ...
    2024-04-10 04:59:03 | ERROR | trainer | CUDA error: ...

Only what is known to stand there is taken off. What remains is the statement, and its first words
tell whether it is a program's own or somebody's quotation: prose, code, a comment, a quote from
another log all begin with something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

MOST_PREFIXES = 24
_MOST_INDENTED = 3
"""Lines indented further continue another: source in a traceback, a quotation, a table."""

_LEVEL = (
    r"(?P<level>TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|CRITICAL|FATAL|[Ff]atal|Warning"
    r"|WARN|[Ee]rror(?=[:\]])|warning(?=[:\]]))"
)

_SOURCE = r"[\w./<>\-]+\.(?:cc|cpp|cu|cuh|c|h|hpp|py|pyx|go)(?::\d+)+"

_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"

_NO_HOST = (
    r"(?<!\.py)(?<!\.log)(?<!\.txt)(?<!\.md)(?<!\.out)(?<!\.err)(?<!Error)(?<!error)(?<!Exception)"
    r"(?<!Failure)(?<!Warning)(?<!Exit)(?<!Interrupt)(?<!Timeout)"
)
"""A host's name has none of these ends: files and exceptions have."""

_PIECES = (
    # a tag in brackets: [rank3]: [1,3]<stderr>: [2024-05-01 10:00:00] [E321 ... cpp:607] [Rank 3]
    r"(?P<tag>\[(?!Errno)[^\[\]\"'`]{0,160}\])(?:<std(?:out|err)>)?:?",
    # journalctl -o short-iso, rsyslog: a unit's time, host and program
    rf"(?P<time2>\d{{4}}-\d\d-\d\dT{_CLOCK}(?:Z|[+-]\d\d:?\d\d)) "
    r"(?P<host2>[\w.\-]+) [\w.\-/]+\[\d+\]: ",
    # a time: ISO 8601, Python's logging, with or without a year, or the time of day alone
    rf"(?P<time>\d{{4}}[-/]\d\d[-/]\d\d[ T_]{_CLOCK}(?:\s?(?:Z|[+-]\d\d:?\d\d))?)\b:?",
    rf"(?:\d\d[-/]\d\d(?:[-/]\d{{2,4}})? )?{_CLOCK}\b:?(?=[\s|\]])",
    # ... to the minute: what follows has a time of its own, mostly
    r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d(?=\s)",
    # syslog: its time, host and program
    rf"[A-Z][a-z]{{2}}\s+\d\d? {_CLOCK} (?P<host>[\w.\-]+) (?:[\w.\-/]+(?:\[\d+\])?: )?",
    # glog, with absl's name before it: E0321 02:07:08.408271 12345 file.cc:607]
    rf"(?P<letter>[DIWEF])\d{{3,4}} {_CLOCK}\s+\d+ {_SOURCE}\]",
    rf"(?P<letter2>[DIWEF])\s+(?:\d+\s+)?{_SOURCE}\]",
    # who: Ray, vLLM ... (RayTrainWorker pid=1234, ip=10.0.0.2)
    r"\((?:[\w.\-]+(?:\([^()\"']*\))? ?)?(?:(?:pid|ip|rank|node|actor|tid)=[^()\s,\"']+[, ]*)+\)",
    r"\((?:raylet|gcs_server|autoscaler)[^()\"']*\)",
    # NCCL: host:pid:tid [device]
    r"(?P<nccl_host>[\w.\-<>]+):(?P<nccl_pid>\d+|[X]+)(?::\w+)?\s\[(?P<nccl_device>-?\d+)\]",
    rf"(?P<source>{_SOURCE}|[\w.]+:\d+) (?=NCCL (?:WARN|INFO)\b)",
    r"NCCL (?P<nccl>WARN|INFO)\b",
    r"(?P<nccl2>WARN|INFO): Function: \w+ Line: \d+:",
    # a level, and the logger's name with it
    rf"{_LEVEL}\b(?:\s*[:|\]\-]|(?=\s))",
    r"libfabric:\d+:\d+::[\w:]+\(\):\d+<(?P<fi>\w+)> (?:err: (?=\d))?",
    # Slurm, Open MPI and Docker name themselves
    r"(?P<program>slurmstepd|srun|sbatch|salloc)(?:-[\w.\-]+)?:",
    # Python's warnings: where they were raised
    rf"{_SOURCE}: (?=\w*Warning: )",
    # a container runtime's log: stderr F
    r"std(?:out|err) [FP]\b",
    r"std(?:out|err):",
    # srun --label, pdsh, DeepSpeed, mpirun: rank, or the host's name (with a digit or a dash in it)
    r"(?P<label>\d{1,5}):(?= )",
    r"(?P<labelled>(?!nvidia-|\S*(?:Error|Exception))[A-Za-z0-9<][\w<>]*[\d.\-][\w.\-<>]*)"
    rf"{_NO_HOST}:(?= )",
    # docker compose: a container's name with its number, or a name padded to the longest
    r"(?:[\w.\-]*[\-_]\d+\s+|[\w.\-]+\s{2,})\|(?= )",
    # who, and on which stream: trainer-0 [stderr]
    r"(?!NCCL )[\w.\-/]+ \[std(?:out|err)\](?=\s)",
    r"\x1b\[[\d;]*[A-Za-z]",
    # ... a colour whose escape has been lost on the way
    r"\[\d{1,2}(?:;\d{1,3})*m(?=\S)",
    r"(?P<between>[|:\-])(?=\s)",
    r"\d{4,7} (?=\[)",
)

_NAMES = (
    # after a level: ERROR:torch.distributed.elastic:, ERROR trainer:, | __main__:main:12 -
    r"(?P<logger>[\w.\-/<>]+(?::[\w<>.]+:\d+|:\d+)?)(?:\s*[:|\-](?=\s)|\s*\]\s*:?|:(?=\S))",
)

_BEFORE_LEVEL = re.compile(
    r"(?!CUDA |Bus |cuDNN )[\w.\-/]+(?:\s*[:|\-]\s*|\s+)"
    rf"(?={_LEVEL.replace('?P<level>', '?:')}\b[\s:|\]\-])"
)
_PROGRESS = re.compile(r".{0,120}?\d+%\|.{0,400}?\|[^\[\]]{0,80}\[[^\]]{0,200}\](?:\s*$)?")
_GLOG_INSIDE = re.compile(r"(?:\[rank\d+\]:)?\[[EWF](?:\d{3,4} [\d:.]+)? \w+\.cpp:\d+\]")
_LOGFMT = re.compile(
    r'(?:(?:\S+\s+)?(?:time|ts|t)="?[^"\s]+"?\s+)?level=(?P<level>\w+)\s+msg="(?P<msg>(?:[^"\\]|\\.)*)"'
)
_JSON_FILE = re.compile(
    r'\{"log":(?P<log>"(?:[^"\\]|\\.)*"),"stream":"std(?:out|err)",(?:"attrs":\{[^{}]*\},)?'
    r'"time":"(?P<time>[^"]+)"\}\s*$'
)
"""A line as Docker's json-file driver keeps it."""

_RANK = re.compile(
    r"^\[(?:rank|default|trainer|worker)?:? ?(?P<rank>\d{1,5})\]$"
    r"|\b[Rr]ank[ :=]*(?P<rank2>\d{1,5})\]?$"
)
_MPI_RANK = re.compile(r"^\[\d+,(?P<rank>\d+)\]$")
_TAG_LEVEL = re.compile(rf"\[(?:{_LEVEL}|(?P<letter>[DIWEF])(?:\d{{3,4}})?(?= ).*)[\]:, ]?")
_TAG_TIME = re.compile(rf"\d{{4}}[-/]\d\d[-/]\d\d[ T]{_CLOCK}")
_GLOG_TIME = re.compile(r"[DIWEF](?P<month>\d\d?)(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d(?:\.\d+)?)")

_LETTERS = {"D": "debug", "I": "info", "W": "warning", "E": "error", "F": "fatal"}
_LEVELS = {
    "trace": "debug", "notice": "info", "warn": "warning", "err": "error", "critical": "error",
}  # fmt: skip


@dataclass(slots=True)
class Statement:
    """A line without what stands before its words.

    ``level`` is ``debug``, ``info``, ``warning``, ``error`` or ``fatal``, empty where none is told;
    ``nccl`` says ``WARN`` or ``INFO`` for a line of NCCL's. ``stamp`` is the time as it is written.
    ``rank``, ``host``, ``pid`` and ``device`` (of NCCL: the CUDA index) are told by the line; so is
    ``source``, NCCL's file that speaks.
    """

    text: str
    level: str = ""
    nccl: str = ""
    stamp: str = ""
    rank: int | None = None
    host: str = ""
    pid: int | None = None
    device: int | None = None
    source: str = ""
    prefixes: int = 0
    named: bool = False

    @property
    def is_grave(self) -> bool:
        """Whether the logger calls it an error or a warning."""
        return self.level in ("warning", "error", "fatal")


@cache
def _pieces() -> Callable[[str, int], re.Match[str] | None]:
    return re.compile("|".join(f"(?:{piece})" for piece in _PIECES)).match


@cache
def _logger() -> Callable[[str, int], re.Match[str] | None]:
    return re.compile(_NAMES[0]).match


def statement_of(line: str) -> Statement | None:
    """The statement of a line; None for one that is no statement of its own.

    >>> statement_of("[rank3]:[E321 02:07:08.4 ProcessGroupNCCL.cpp:607] [Rank 3] Watchdog").text
    'Watchdog'
    """
    found = Statement("")
    line = _unwrapped(line, found)
    at, end = 0, len(line)
    indented = 0
    while found.prefixes < MOST_PREFIXES:
        begin = at
        while at < end and line[at] == " ":
            at += 1
        indented = at - begin
        piece = _pieces()(line, at)
        if piece is not None and piece.lastgroup == "between" and not found.prefixes:
            break  # a list, a table, or what a patch takes away
        if piece is not None:
            _take(piece, found)
        else:
            piece = _name_of_logger(line, at, found)
            if piece is None:
                break
        at = piece.end()
        found.prefixes += 1
    if indented > _MOST_INDENTED:
        return None
    found.text = line[at:].rstrip()
    return found


def _name_of_logger(line: str, at: int, found: Statement) -> re.Match[str] | None:
    """A logger's name after a level, once, or before one."""
    if found.level and not found.named:
        name = _logger()(line, at)
        if name is not None and not _is_head(name["logger"]):
            found.named = True
            return name
    return _BEFORE_LEVEL.match(line, at) if found.prefixes else None


def _is_head(name: str) -> bool:
    """Whether a name is not a logger's but belongs to what is said: an exception's class,
    or a tool that is known by its name.
    """
    return (
        name.endswith(("Error", "Exception", "error", "NCCL", "CUDA", "SIGKILL"))
        or name.startswith(("nvidia-container-", "modprobe"))
        or (name.isupper() and "_" in name)
    )


def _unwrapped(line: str, found: Statement) -> str:
    """A line out of what wraps it as a whole: a record of Docker's or logfmt, a progress bar."""
    if line.startswith('{"log":') and (record := _JSON_FILE.match(line)):
        try:
            line = str(json.loads(record["log"], strict=False))
        except ValueError:
            return line
        found.stamp = record["time"]
    if "%|" in line and (bar := _PROGRESS.match(line)):
        line = line[bar.end() :]
    if ".cpp:" in line and line[:1] != "[" and (inside := _GLOG_INSIDE.search(line)):
        # PyTorch's native log does not begin a line of its own when a progress bar is drawn.
        before = line[: inside.start()]
        if not re.search(r"[\"'`]", before):
            line = line[inside.start() :] if "%|" in before or "it/s" in before else line
    if "msg=" in line and (record := _LOGFMT.match(line)):
        found.level = _level(record["level"])
        return re.sub(r"\\(.)", r"\1", record["msg"])
    return line


def _level(word: str) -> str:
    lower = word.lower()
    return _LEVELS.get(lower, lower)


def _take(piece: re.Match[str], found: Statement) -> None:
    """Note what a prefix tells."""
    name, value = piece.lastgroup, None
    if name is None:
        return
    value = piece[name]
    if name == "tag":
        _take_tag(value, found)
    elif name == "level":
        found.level = _level(value)
    elif name in ("letter", "letter2"):
        found.level = _LETTERS[value]
        found.stamp = found.stamp or piece[0]
    elif name == "time":
        found.stamp = found.stamp or value
    elif name == "host2":
        found.stamp, found.host = found.stamp or piece["time2"], value
    elif name == "nccl_device":
        found.host, found.device = piece["nccl_host"], int(value)
        found.pid = int(piece["nccl_pid"]) if piece["nccl_pid"].isdigit() else None
    elif name in ("nccl", "nccl2"):
        found.nccl = value
    elif name == "source":
        found.source = value
    elif name == "fi":
        found.level = _level("warning" if value == "warn" else value)
    elif name == "label":
        found.rank = int(value)
    elif name == "host" or (name == "labelled" and any(map(str.isdigit, value))):
        found.host = value


def _take_tag(tag: str, found: Statement) -> None:
    if rank := _RANK.search(tag) or _RANK.search(tag[1:-1]):
        found.rank = int(rank["rank"] or rank["rank2"])
    elif rank := _MPI_RANK.match(tag):
        found.rank = int(rank["rank"])
    elif level := _TAG_LEVEL.match(tag):
        letter = level["letter"]
        found.level = _LETTERS[letter] if letter else _level(level["level"])
        found.stamp = found.stamp or tag[1:-1]
    if not found.stamp and (time := _TAG_TIME.search(tag)):
        found.stamp = time[0]
