"""The machine and the network around the GPUs, added to each reading of them."""

from __future__ import annotations

import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Protocol

from gputui.model import HostSample, LinkSample, LogLine, NodeSample
from gputui.sources.host import HostReader
from gputui.sources.listening import ListenerReader
from gputui.sources.network import LinkReader
from gputui.sources.tcp import TcpReader

_ALL = (*(one.name for one in fields(HostSample) if one.name != "missing"), "links")

_LEAST_S = 0.2
"""However short the interval, the surroundings are read no more often."""


class Surroundings:
    """Reads them, again and again. ``root`` is where ``proc`` and ``sys`` lie."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._host = HostReader(root)
        self._links = LinkReader(root)
        self._tcp = TcpReader(root)
        self._listening = ListenerReader()
        self._read_s = float("-inf")
        self._last: tuple[HostSample, tuple[LinkSample, ...]] = (HostSample(), ())

    def joined(self, sample: NodeSample) -> NodeSample:
        """The reading, with what stands around it. Never raises."""
        now_s = time.monotonic()
        try:
            if now_s - self._read_s >= _LEAST_S:
                self._last = self._read(now_s)
                self._read_s = now_s
            tcp = self._tcp.read((one.pid for one in sample.processes), now_s, sample.time_s)
            listeners = self._listening.read(self._tcp.sockets, now_s)
        except Exception as error:
            # Whatever went wrong here, the GPUs' readings are worth more.
            why = f"{type(error).__name__}: {error}"
            failed = HostSample(missing=dict.fromkeys(_ALL, why))
            return replace(sample, host_readings=failed)
        host, links = self._last
        return replace(sample, host_readings=host, links=links, tcp=tcp, listeners=listeners)

    def _read(self, now_s: float) -> tuple[HostSample, tuple[LinkSample, ...]]:
        host = self._host.read()
        links = self._links.read(now_s)
        if self._links.missing is not None:
            host = replace(host, missing={**host.missing, "links": self._links.missing})
        return host, links


class _Out(Protocol):
    def sample(self, sample: NodeSample, /) -> None:
        """One reading."""

    def log(self, line: LogLine, /) -> None:
        """One line of a log."""


class Surrounded:
    """Stands where samples go, and hands them on with what stands around the GPUs."""

    def __init__(self, out: _Out, surroundings: Surroundings) -> None:
        self._out = out
        self._surroundings = surroundings

    def sample(self, sample: NodeSample, /) -> None:
        """One reading."""
        self._out.sample(self._surroundings.joined(sample))

    def log(self, line: LogLine, /) -> None:
        """One line of a log."""
        self._out.log(line)
