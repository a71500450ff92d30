"""The child process that alone touches NVML: ``python -m gputui.sampler``.

It writes raw samples to its standard output, in the capture format. A byte on its standard input
asks for a sample at once; the end of its input, or of whoever reads its output, ends it. Nothing
else does: a call that hangs in the driver hangs this process, and nobody else.

:func:`sample_for_ever` is the loop without the process, for those who bring an NVML of their own.
"""

from __future__ import annotations

import argparse
import os
import select
import signal
import sys
import time
from collections.abc import Callable

from gputui.model import NodeSample
from gputui.recording import CaptureWriter
from gputui.sources.nvml import NvmlReader
from gputui.sources.progress import Progress

_SLOW_SHARE = 0.5
"""The part of an interval that slow readings may fill."""

_LEAST_FOR_SLOW_S = 0.1


def sample_for_ever(
    reader: NvmlReader,
    write: Callable[[NodeSample], None],
    wait: Callable[[float], bool],
    *,
    interval_s: float,
) -> None:
    """Write a sample every ``interval_s``, the first one at once.

    ``wait`` waits for so many seconds, or for less; it returns False to end the loop.
    """
    due_s = time.monotonic()
    while True:
        write(reader.read(time.time()))
        due_s = max(due_s + interval_s, time.monotonic())
        if due_s - time.monotonic() >= _LEAST_FOR_SLOW_S:
            until_s = due_s - interval_s * (1 - _SLOW_SHARE)
            while reader.read_slow() and time.monotonic() < until_s:
                pass
        if not wait(max(due_s - time.monotonic(), 0.0)):
            return
        # Asked for early: the next one is due an interval from now.
        due_s = min(due_s, time.monotonic())


def _wait_for_input(seconds: float) -> bool:
    """Wait for a byte on standard input, or for the time to pass; False at its end."""
    readable, _, _ = select.select([0], [], [], seconds)
    return not readable or bool(os.read(0, 4096))


def main(arguments: list[str] | None = None) -> int:
    """Run the sampler until its parent goes."""
    parser = argparse.ArgumentParser(prog="gputui.sampler", description=__doc__)
    parser.add_argument("--interval", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--skip", type=int, action="append", default=[], metavar="INDEX")
    parser.add_argument("--progress", type=int, metavar="DESCRIPTOR")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    capture = CaptureWriter(sys.stdout)
    try:
        reader = _reader(options)
    except ImportError as error:
        return _cannot_start(capture, error)
    try:
        sample_for_ever(reader, capture.sample, _wait_for_input, interval_s=options.interval)
    except BrokenPipeError:
        # Nobody reads any more; keep the interpreter from flushing into the void at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def _reader(options: argparse.Namespace) -> NvmlReader:
    # Only this process may load the driver's library, and only here.
    import pynvml

    skip = frozenset(options.skip)
    if options.progress is None:
        return NvmlReader(pynvml, skip=skip)
    return NvmlReader(pynvml, skip=skip, asking=Progress(options.progress).note)


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
