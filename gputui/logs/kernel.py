"""Kernel lines in, typed events out.

:mod:`gputui.logs.prefix` takes off what a log put in front, :mod:`gputui.logs.grammar` takes the
message apart. What takes several lines is put together here: it is one event, at its first line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gputui.logs import records
from gputui.logs.grammar import Message, parse_continuation, parse_message
from gputui.logs.host_lines import HOST_NEEDLES
from gputui.logs.prefix import Stamp, split_prefix

KERNEL = "kernel"
"""The name of this log among the sources of log lines."""

_MOST_SWITCHES = 64
_SHORTEST_TEXT = 8
"""An Xid with more text than this was not broken before its text: nothing needs to be joined."""


@dataclass(frozen=True, slots=True)
class KernelEvent:
    """One thing the kernel said about a GPU or what it hangs on.

    ``kind`` is ``xid``, ``sxid``, ``gpu_lost`` or another of :mod:`gputui.logs.grammar`.
    ``time_s`` is Unix time, ``text`` is the message without what the log put in front. What the
    line does not have is None; an empty process name is None as well. ``caused_by`` is the Xid that
    the driver itself names as the cause; the instances are those of MIG. ``told_by`` is the log's
    name: NVML tells of Xids as well. ``line`` is the number of its first line, where lines are
    counted, and ``host`` the machine that the line names. ``times`` is how often it was said, where
    repeats are told as one.
    """

    kind: str
    time_s: float
    text: str
    bus_id: str | None = None
    code: int | None = None
    pid: int | None = None
    process: str | None = None
    detail: str = ""
    told_by: str = KERNEL
    gpu_instance: int | None = None
    compute_instance: int | None = None
    caused_by: int | None = None
    line: int = 0
    host: str | None = None
    times: int = 1


_INTERESTING = re.compile(
    r"NVRM|Xid|nvidia|NVSwitch|AER:|DPC:|PCIe Bus Error|error status/mask|PCIe bandwidth|libnccl|"
    r"fabric manager NVIDIA|" + "|".join(re.escape(one.decode()) for one in HOST_NEEDLES)
)

_REPEATED = re.compile(
    r"message repeated (?P<times>\d{1,9}) times: \[\s*(?:\[\s*\d+\.\d+\]\s*)?(?P<message>.*?)\]?$"
)
"""What rsyslog writes instead of lines that say the same as the one before."""

BOOT = re.compile(r"Linux version \d")
"""The kernel's first line: what stands before it is of another boot."""

Ahead = Callable[[], Iterable[str]]
"""The lines that follow the one that is read, as far as they are known."""


def is_interesting(line: str) -> bool:
    """Whether a line may be about a GPU or what it hangs on: a quick look, before a close one."""
    return _INTERESTING.search(line) is not None


class KernelParser:
    """Reads kernel lines in order; remembers what a record that takes several lines began with.

    ``boot_s`` is when the machine was started (Unix time): stamps that count from the boot become
    times with it.
    """

    def __init__(self, boot_s: float | None = None) -> None:
        self._boot_s = boot_s
        self._lost: _Lost | None = None
        self._mismatch = False
        self._untold: list[str] | None = None
        self._switches: dict[str | None, int | None] = {}

    def parse(
        self,
        line: str,
        now_s: float,
        *,
        live: bool = True,
        number: int = 0,
        ahead: Ahead = tuple,
    ) -> KernelEvent | None:
        """Return the event on a line, or None.

        A ``live`` line happened now; one that is read back happened when its stamp says, or now if
        it has none that can be used. ``number`` is the line's own; with the lines ``ahead``, a
        record that is printed on several is understood at its first.
        """
        if not is_interesting(line):
            return None
        stamp, message = split_prefix(line, now_s)
        return self.read(stamp, message, now_s, live=live, number=number, ahead=ahead)

    def read(
        self,
        stamp: Stamp,
        message: str,
        now_s: float,
        *,
        live: bool = True,
        number: int = 0,
        ahead: Ahead = tuple,
    ) -> KernelEvent | None:
        """The same for a line whose prefix was taken off already."""
        first, *rest = message.split("\\x0aNVRM:") if "\\x0a" in message else (message,)
        if rest:  # one record of /dev/kmsg with several lines in it
            further = ["NVRM:" + one for one in rest]
            return self.read(stamp, first, now_s, live=live, number=number, ahead=lambda: further)
        times = 1
        if message.startswith("message repeated ") and (repeated := _REPEATED.match(message)):
            times, message = int(repeated["times"]), repeated["message"]
        parsed = parse_message(message)
        if parsed is not None and parsed.kind == "xid":
            if len(parsed.detail) <= _SHORTEST_TEXT and records.is_cut(message):
                message, parsed = records.joined(message, parsed, ahead(), bare=stamp.bare)
        elif parsed is None and records.begins_xid(message):
            message, parsed = records.joined(message, None, ahead(), bare=stamp.bare)
        if parsed is None:
            parsed, number = self._further(message, number, ahead)
        elif parsed.kind == "gpu_named":
            parsed = self._named(parsed, number, ahead)
        elif parsed.kind == "version_mismatch":
            self._mismatch = True
            parsed = records.with_versions(parsed, message, ahead())
            self._untold = None if records.has_versions(parsed) else [message]
        elif parsed.kind == "sxid" and self._belongs_to_the_one_before(parsed):
            return None
        if parsed is None:
            return None
        return KernelEvent(
            kind=parsed.kind,
            time_s=now_s if live else self._time_s(stamp, now_s),
            text=message.strip(),
            bus_id=parsed.bus_id,
            code=parsed.code,
            pid=parsed.pid,
            process=parsed.process,
            detail=parsed.detail,
            gpu_instance=parsed.gpu_instance,
            compute_instance=parsed.compute_instance,
            caused_by=parsed.caused_by,
            line=number,
            host=stamp.host,
            times=times,
        )

    def _named(self, parsed: Message, number: int, ahead: Ahead) -> Message | None:
        """The first line of a record that says of a GPU that it fell off the bus, or is otherwise
        of no use. Where nothing follows yet, the event comes with the line that says what.
        """
        told = records.what_of_it(ahead())
        self._lost = _Lost(parsed.bus_id, number, told=told is not None)
        return None if told is None else Message(told, parsed.bus_id)

    def _further(self, message: str, number: int, ahead: Ahead) -> tuple[Message | None, int]:
        """A line that goes on with a record, or whose record began before the log did."""
        kind = parse_continuation(message)
        if kind == "mismatch_continued":
            if self._mismatch:
                return self._versions(message), number
            self._mismatch = True
            return records.with_versions(Message("version_mismatch"), message, ahead()), number
        if kind != "lost_continued":
            return None, number
        lost = self._lost
        if lost is None:
            told = "fallen off" in message or records.what_of_it(ahead()) == "gpu_lost"
            ends = "fallen off" in message
            self._lost = None if ends else _Lost(None, number, told=told)
            return Message("gpu_lost") if told else None, number
        if "fallen off" not in message:
            return None, number
        self._lost = None
        return None if lost.told else Message("gpu_lost", lost.bus_id), lost.number

    def _versions(self, message: str) -> Message | None:
        """A further line of a mismatch whose versions were not known at its first: with the line
        that has the second of them, they are told.
        """
        if self._untold is None:
            return None
        self._untold.append(message)
        told = records.with_versions(Message("mismatch_versions"), " ".join(self._untold), ())
        if not records.has_versions(told):
            return None
        self._untold = None
        return told

    def _belongs_to_the_one_before(self, parsed: Message) -> bool:
        """Whether a line tells more of the SXid that this switch told last."""
        if parsed.detail.startswith(("Severity ", "Data {")):
            return self._switches.get(parsed.bus_id) == parsed.code
        if parsed.bus_id not in self._switches and len(self._switches) >= _MOST_SWITCHES:
            del self._switches[next(iter(self._switches))]
        self._switches[parsed.bus_id] = parsed.code
        return False

    def _time_s(self, stamp: Stamp, now_s: float) -> float:
        if stamp.wall_s is not None:
            return min(stamp.wall_s, now_s)
        if stamp.uptime_s is not None and self._boot_s is not None:
            return min(self._boot_s + stamp.uptime_s, now_s)
        return now_s


@dataclass(frozen=True, slots=True)
class _Lost:
    """The first line of a record on a GPU: which, where it stood, and whether it was told."""

    bus_id: str | None
    number: int
    told: bool
