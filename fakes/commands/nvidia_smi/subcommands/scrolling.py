"""Tables that scroll: samples of GPUs or processes, so many, so far apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from fakes.commands.nvidia_smi.options import NotImitated, Usage
from fakes.commands.nvidia_smi.selection import Selection
from fakes.commands.nvidia_smi.session import Session, given

VALUES = {
    "-i": "id", "--id": "id", "-c": "count", "--count": "count", "-d": "delay", "--delay": "delay",
    "-s": "select", "--select": "select", "-o": "options", "--options": "options",
    "-f": "filename", "--filename": "filename", "--format": "format",
    "--gpm-metrics": "gpm-metrics",
}  # fmt: skip
_MOST_DELAY_S = 10
_STAMPS = {"D": "%Y%m%d ", "T": "%H:%M:%S "}
_STAMP_NAMES = {"D": ("#Date    ", "#YYYYMMDD"), "T": ("#Time   ", "#HH:MM:SS")}
_HEADING_EVERY = 50

Lines = Callable[[Selection, Sequence[str]], list[str]]


def scroll(
    name: str, argv: Sequence[str], session: Session, help_text: str, columns: str,
    make: Callable[[str], tuple[tuple[str, str], Lines]],
) -> int:  # fmt: skip
    """Print rounds of lines. ``make`` turns the letters of ``-s`` into two headings and lines;
    ``columns`` are the letters that are usual.
    """
    options = given(name, argv, {"-h": "help", "--help": "help"}, VALUES)
    if "help" in options:
        session.out.write(help_text)
        return 0
    if set(options) & {"filename", "format", "gpm-metrics"}:
        raise NotImitated(f"{name} " + " ".join(argv))
    count = _number(options, "count")
    delay_s = _number(options, "delay") or 1
    if delay_s > _MOST_DELAY_S:
        raise Usage(f"Invalid delay: {delay_s}. It is 1 to {_MOST_DELAY_S} seconds.")
    if session.pause is None and count != 1:
        raise NotImitated(f"{name} without -c 1")
    stamps = [letter for letter in "DT" if letter in options.get("options", "")]
    headings, lines = make(options.get("select", columns))
    _rounds(session, options, count, delay_s, stamps, headings, lines)
    return 0


def _rounds(
    session: Session, options: Mapping[str, str], count: int, delay_s: int,
    stamps: Sequence[str], headings: tuple[str, str], lines: Lines,
) -> None:  # fmt: skip
    ids = [each.strip() for each in options["id"].split(",")] if "id" in options else []
    done = printed = 0
    selection = session.selection
    while True:
        told = lines(selection, ids)
        if done == 0 or printed >= _HEADING_EVERY:
            for at, heading in enumerate(headings):
                names = "".join(f"{_STAMP_NAMES[stamp][at]} " for stamp in stamps)
                session.out.write(f"{names}{heading}\n")
            printed = 0
        moment = time.gmtime(selection.driver.taken_s)
        stamp = "".join(time.strftime(_STAMPS[each], moment) for each in stamps)
        session.out.writelines(f"{stamp}{line}\n" for line in told)
        printed += len(told)
        done += 1
        if done == count or session.pause is None:
            return
        session.pause(delay_s * 1_000_000)
        selection = session.anew()


def _number(options: Mapping[str, str], name: str) -> int:
    text = options.get(name, "0")
    if not text.isdecimal():
        raise Usage(f'"{text}" is not a number for --{name}.')
    return int(text)
