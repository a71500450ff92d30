"""The child process that alone touches NVML: ``python -m gputui.sampler``.

It writes raw samples, and the Xids that NVML tells, to its standard output, in the capture format.
A byte on its standard input asks for a sample at once; the end of its input, or of whoever reads
its output, ends it. So does a library of another version than the driver's: only a new process
loads the new one. Nothing else does: a call that hangs in the driver hangs this process, and nobody
else.

:func:`sample_for_ever` is the loop without the process, for those who bring an NVML of their own.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

from gputui.exit_codes import ANOTHER_PLEASE, BAD_USAGE
from gputui.model import LogLine, NodeSample
from gputui.recording import CaptureWriter
from gputui.sources.binding import import_binding
from gputui.sources.files import system_root
from gputui.sources.nvml import NvmlReader
from gputui.sources.processes import ProcessTable
from gputui.sources.progress import Progress
from gputui.sources.surroundings import Surrounded, Surroundings

_SLOW_SHARE = 0.5
"""The part of an interval that slow readings may fill."""

_FIRST_SHARE = 0.9
"""The same in the first interval: what is slow is wanted for the second sample."""

_LONGEST_SLOW_S = 0.025
"""How long a slow reading may take: it is begun only if the next sample is further away."""

_MOST_WITHOUT = 10
"""Where there is never so much time, one is made all the same after so many samples."""


class Wake(Enum):
    """Why waiting came to an end."""

    DUE = "due"
    ASKED = "asked"
    END = "end"


Wait = Callable[[float], Wake]
"""Waits for so many seconds, or until asked for a sample or told to end."""


class Out(Protocol):
    """Where samples go: a :class:`gputui.recording.CaptureWriter`, say."""

    def sample(self, sample: NodeSample, /) -> None:
        """One reading."""

    def log(self, line: LogLine, /) -> None:
        """One line of a log."""


def sample_for_ever(reader: NvmlReader, out: Out, wait: Wait, *, interval_s: float) -> int:
    """Write a sample every ``interval_s``, the first one at once.

    Between two samples what changes seldom is read, as far as there is time. Returns 0 when told to
    end, and ``ANOTHER_PLEASE`` when only another process can go on.
    """
    due_s = time.monotonic()
    share = _FIRST_SHARE
    samples_without = 0
    while not reader.is_outdated:
        sample = reader.read(time.time())
        out.sample(sample)
        for line in reader.read_events(sample.time_s):
            out.log(line)
            reader.hasten()
        due_s = max(due_s + interval_s, time.monotonic())
        wake = Wake.DUE
        if due_s - time.monotonic() >= _LONGEST_SLOW_S or samples_without >= _MOST_WITHOUT:
            wake = _read_slow(reader, wait, due_s - interval_s * (1 - share))
            share, samples_without = _SLOW_SHARE, 0
        else:
            samples_without += 1
        if wake is Wake.DUE:
            wake = wait(max(due_s - time.monotonic(), 0.0))
        if wake is Wake.END:
            return 0
        if wake is Wake.ASKED:
            # The next one is due an interval from now.
            due_s = time.monotonic()
            reader.hasten()
    return ANOTHER_PLEASE


def _read_slow(reader: NvmlReader, wait: Wait, until_s: float) -> Wake:
    """Read what is due, one thing at a time, until the time is up or something else is wanted."""
    wake = Wake.DUE
    while wake is Wake.DUE and reader.read_slow() and time.monotonic() < until_s:
        wake = wait(0.0)
    return wake


def _wait_for_input(seconds: float) -> Wake:
    """Wait for a byte on standard input, or for the time to pass."""
    readable, _, _ = select.select([0], [], [], seconds)
    if not readable:
        return Wake.DUE
    return Wake.ASKED if os.read(0, 4096) else Wake.END


USAGE = "usage: python -m gputui.sampler [--interval SECONDS] [--skip INDEX]... [--progress FD]"


@dataclass(frozen=True, slots=True)
class Options:
    """What a sampler is told: ``skip`` are GPUs to leave alone, ``progress`` a shared mark."""

    interval_s: float = 1.0
    skip: frozenset[int] = frozenset()
    progress: int | None = None


def options_of(words: Sequence[str]) -> Options:
    """The options on a command line; raises ValueError if they are not such.

    They are few and mostly written by a program: no parser is worth the time that its import takes.
    """
    options = Options()
    for name, value in zip(words[::2], words[1::2], strict=True):
        if name == "--interval":
            options = replace(options, interval_s=float(value))
        elif name == "--skip":
            options = replace(options, skip=options.skip | {int(value)})
        elif name == "--progress":
            options = replace(options, progress=int(value))
        else:
            raise ValueError(name)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the sampler until its parent goes."""
    try:
        options = options_of(sys.argv[1:] if arguments is None else arguments)
    except ValueError:
        print(USAGE, file=sys.stderr)
        return BAD_USAGE
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    capture = CaptureWriter(sys.stdout)
    try:
        reader = _reader(options)
    except ImportError as error:
        return _cannot_start(capture, error)
    gc.enable()
    out = Surrounded(capture, Surroundings(system_root()))
    try:
        return sample_for_ever(reader, out, _wait_for_input, interval_s=options.interval_s)
    except BrokenPipeError:
        # Nobody reads any more; keep the interpreter from flushing into the void at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0


def _reader(options: Options) -> NvmlReader:
    # Only this process may load the driver's library, and only here.
    pynvml = import_binding()
    root = system_root()
    processes = ProcessTable(root / "proc", root / "dev")
    if options.progress is None:
        return NvmlReader(pynvml, processes=processes, skip=options.skip)
    asking = Progress(options.progress).note
    return NvmlReader(pynvml, processes=processes, skip=options.skip, asking=asking)


def _cannot_start(capture: CaptureWriter, error: ImportError) -> int:
    capture.sample(
        NodeSample(
            host=os.uname().nodename,
            time_s=time.time(),
            error=f"nvidia-ml-py cannot be imported ({error}): pip install nvidia-ml-py",
        )
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
