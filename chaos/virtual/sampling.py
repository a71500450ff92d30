"""gputui's own readings without the C library: where there is no compiler to make one.

The simulator reads the node as gputui's sampler would, by nvidia-ml-py on the in-process carrier,
and writes the samples into a FIFO for ``gputui --source stream=FIFO``. Nothing but gputui can be
run that way.
"""

from __future__ import annotations

import io
import os
import selectors
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pynvml

from fakes.node import Node
from fakes.nvml.answer import NodeNow
from fakes.nvml.inprocess import installed
from gputui.recording import CaptureWriter
from gputui.sources.nvml import NvmlReader
from gputui.sources.processes import ProcessTable

_INTERVAL_S = 1.0
_SLOW_S = 0.02


class SampleStream:
    """A node's samples for one gputui, about once a second and after every event.

    ``proc`` is the node's /proc. With several nodes only one can have a stream: nvidia-ml-py knows
    but one library.
    """

    def __init__(self, node: Node, path: Path, proc: Path, now_us: Callable[[], int]) -> None:
        os.mkfifo(path, 0o600)
        self.path = path
        # Open for reading too: so there is always a reader, and writing never raises SIGPIPE.
        self._pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._unsent = b""
        self._sampled_s = float("-inf")
        self._lines = io.StringIO()
        self._capture = CaptureWriter(self._lines)
        self._stack = ExitStack()
        self._stack.enter_context(installed(NodeNow(node, now_us)))
        self._reader = NvmlReader(pynvml, host=node.name, processes=ProcessTable(proc))

    def publish(self, at_us: int, *, happened: bool = True) -> None:
        """Write a sample if it is time for one and the last one has been read."""
        del at_us  # the answers ask the clock
        self._flush()
        now_s = time.monotonic()
        if self._unsent or not (happened or now_s - self._sampled_s >= _INTERVAL_S):
            return
        self._sampled_s = now_s
        self._capture.sample(self._reader.read(time.time()))
        while self._reader.read_slow() and time.monotonic() - now_s < _SLOW_S:
            pass
        self._unsent = self._lines.getvalue().encode()
        self._lines.seek(0)
        self._lines.truncate()
        self._flush()

    def next_due_us(self) -> None:
        """Nothing is ever due on the run's clock."""

    def register(self, selector: selectors.BaseSelector) -> None:
        """Nobody asks for anything."""

    def unregister(self) -> None:
        """Nobody asked for anything."""

    def close(self) -> None:
        """End the stream."""
        self._stack.close()
        os.close(self._pipe)
        self.path.unlink(missing_ok=True)

    def _flush(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._pipe, self._unsent) :]
        except BlockingIOError:
            pass  # gputui has not read the last sample yet
