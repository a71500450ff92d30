"""``gputui scan FILE...``: read logs offline, and tell the events and incidents in them."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from gputui.commands.parser import CommandParser
from gputui.exit_codes import HEALTHY, UNHEALTHY, UNREADABLE
from gputui.model import Severity
from gputui.scan.blocks import STDIN, UnreadableError, blocks
from gputui.scan.judge import Judge
from gputui.scan.order import in_order
from gputui.scan.reader import Located, events, kind_of
from gputui.scan.reports import text
from gputui.streams import complain

_EXAMPLES = """\
gputui scan /var/log/kern.log*       what happened to which GPU, how often, what to do
gputui scan --json kern.log | jq .   every event with its line, then the incidents
dmesg | gputui scan -                from a pipe
"""

_EXIT_CODES = """\
exit codes: 0 healthy, 1 incidents of warning or worse, 2 could not read, 64 bad usage
"""

_A_DAY_S = 86_400.0

_COLLECTS_EVERY = (50_000, 20, 50)
"""How seldom Python looks for garbage in circles: there is hardly any, and what is kept is kept."""


def run(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    parser = CommandParser("scan", _EXAMPLES, _EXIT_CODES)
    parser.add_argument("files", nargs="+", metavar="FILE", help="logs, packed or not; - for stdin")
    parser.add_argument("--json", action="store_true", help="JSON lines: events, then incidents")
    options = parser.parse_args(list(arguments))
    gc.set_threshold(*_COLLECTS_EVERY)
    names: list[str] = list(dict.fromkeys(options.files))
    unreadable: list[UnreadableError] = []
    counts: Counter[str] = Counter()
    judge = Judge()
    if options.json:
        from gputui.scan.reports import json
    for one in in_order(
        [partial(_events, name, unreadable.append, numbered=options.json) for name in names]
    ):
        counts[kind_of(one.event)] += getattr(one.event, "times", 1)
        if options.json:
            sys.stdout.write(json.event_line(one))
        judge.hear(one.event, one.host)
    found = judge.incidents()
    if options.json:
        sys.stdout.writelines(json.incident_lines(found))
    else:
        sys.stdout.write(text.write(found, counts, names))
    for error in dict.fromkeys(map(str, unreadable)):
        complain(error)
    if judge.left_out:
        complain(f"{judge.left_out} incidents were left out: there are too many to be kept")
    if unreadable:
        return UNREADABLE
    grave = any(one.incident.severity >= Severity.WARNING for one in found)
    return UNHEALTHY if grave else HEALTHY


def _events(
    name: str, tell: Callable[[UnreadableError], None], *, numbered: bool
) -> Iterator[Located]:
    """The events of one log; that it cannot be read is told, and the others are read on."""
    try:
        yield from events(name, blocks(name), _written_s(name), numbered=numbered)
    except UnreadableError as error:
        tell(error)


def _written_s(name: str) -> float:
    """When a log was last written: its stamps may lack the year."""
    if name == STDIN:
        return time.time()
    try:
        return os.stat(name).st_mtime + _A_DAY_S  # noqa: PTH116
    except OSError:
        return time.time()
