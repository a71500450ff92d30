"""``gputui explain WHAT``: what an error means, who says what of it, and what to do."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gputui.commands.parser import CommandParser
from gputui.exit_codes import BAD_USAGE, HEALTHY
from gputui.streams import complain

if TYPE_CHECKING:
    from gputui.explain.explanation import Explanation
    from gputui.facts.compat import Version

_EXAMPLES = """\
gputui explain 79                              an Xid
gputui explain SXid 20009                      an error of an NVSwitch
gputui explain GpuLost                         a kind of incident
gputui explain sw_power_cap                    a reason of clocks
gputui explain "CUDA error: an illegal memory access was encountered"
dmesg | grep Xid | tail -1 | gputui explain -  a whole line of a kernel log
"""

_EXIT_CODES = """\
exit codes: 0 explained, 64 not understood
"""

_MOST_READ = 1 << 16
_MOST_LINES = 500
_WORDS_OF_A_LINE = 4
"""A line that was pasted has more words than a name or a number."""

_PATH = re.compile(r"(?:~|\.{0,2})/\S+|\S+\.(?:log|txt|gz)")
"""Nothing that can be explained looks like a path."""


def run(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    from gputui.facts.compat import version

    parser = CommandParser("explain", _EXAMPLES, _EXIT_CODES)
    add = parser.add_argument
    add("words", nargs="+", metavar="WHAT", help="a number, a name or a text; - for stdin")
    add("--json", action="store_true", help="an object for each thing")
    add("--driver", type=_version, metavar="VERSION", help="the driver that printed the line")
    options = parser.parse_args(list(arguments))
    question = " ".join(options.words)
    if question == "-":
        question = sys.stdin.buffer.read(_MOST_READ).decode("utf-8", "replace")
    driver = version(options.driver) if options.driver else None
    if not question.strip():
        parser.error("WHAT is empty: expected a number, a name or a text")
    if _PATH.fullmatch(question):
        complain(_of_path(question))
        return BAD_USAGE

    from gputui.explain import report
    from gputui.explain.topics import topics

    found = _explained(question, driver)
    if found:
        write = partial(report.as_json, question) if options.json else report.text
        sys.stdout.write(("" if options.json else "\n").join(map(write, found)))
        _tell_problems()
        return HEALTHY
    complain(_not_understood(question))
    for topic in topics():
        print(f"  {topic.known}", file=sys.stderr)
    return BAD_USAGE


def _explained(question: str, driver: Version | None) -> list[Explanation]:
    """What is known of a question; of several lines, all that is in them, each thing once."""
    first = _first_known(question, driver)
    found = {} if first is None else {first.title: first}
    lines = [line for line in question.splitlines() if len(line.split()) >= _WORDS_OF_A_LINE]
    for line in lines[:_MOST_LINES] if len(lines) > 1 else ():
        one = _first_known(line, driver)
        if one is not None:
            found.setdefault(one.title, one)
    return list(found.values())


def _first_known(question: str, driver: Version | None) -> Explanation | None:
    from gputui.explain.topics import topics

    explained = (topic.explain(question, driver) for topic in topics())
    return next((one for one in explained if one is not None), None)


def _version(text: str) -> str:
    from gputui.facts.compat import version

    if version(text) is None:
        raise argparse.ArgumentTypeError(f'"{text}": expected a version, such as 570.124.06')
    return text


def _of_path(name: str) -> str:
    """Files are not explained, but read by another command."""
    if not Path(name).expanduser().exists():
        return f"{name}: no such file; what is explained is a number, a name or a text"
    return f"{name}: is a file; to find what is wrong in a log: gputui scan {name}"


def _not_understood(question: str) -> str:
    """What was not understood, and what may have been meant."""
    shown = " ".join(question.split())
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    if shown.endswith(".json"):
        return f"{shown}: traces are not explained; what is:"
    near = difflib.get_close_matches(shown.lower(), _known_words(), 1)
    meant = f"; did you mean {_known_words()[near[0]]}?" if near else ""
    return f'nothing is known of "{shown}"{meant} What can be explained:'


def _known_words() -> dict[str, str]:
    """Every name that can be asked about, by its letters in lower case."""
    from gputui.facts.words import kind_table, word_table

    names = [fact.kind for fact in kind_table().facts.values()]
    for fact in word_table().facts.values():
        names += [fact.word, *fact.also]
    return {name.lower(): name for name in names}


def _tell_problems() -> None:
    """Say what is wrong with the rows that the site has added."""
    from gputui.facts.problems import site_problems

    for problem in site_problems():
        complain(problem)
