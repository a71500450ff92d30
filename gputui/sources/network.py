"""The links that training's traffic uses: RDMA ports first, then network interfaces."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from gputui.model import LinkSample
from gputui.sources.ethernet import Interface, find_interfaces
from gputui.sources.files import NOT_THERE, why
from gputui.sources.infiniband import Port, find_ports
from gputui.sources.link import Link
from gputui.sources.reasons import GONE

_MISSING_WHEN_GONE = dict.fromkeys(
    ("speed_mbps", "rx_bytes_per_s", "tx_bytes_per_s", "growth_s"), "its device is gone"
)
_KINDS: tuple[tuple[type[Link], Callable[[Path], dict[str, str]]], ...] = (
    (Port, find_ports),
    (Interface, find_interfaces),
)
_FIND_EVERY_S = 10.0
_MOST_LINKS = 64


class LinkReader:
    """Reads all links, again and again. ``root`` is where ``sys`` lies."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.missing: str | None = None
        """Why some links may be untold, where they cannot be listed."""
        self._root = root
        self._links: dict[str, Link] = {}
        self._gone: frozenset[str] = frozenset()
        self._found_s = float("-inf")

    def read(self, now_s: float) -> tuple[LinkSample, ...]:
        """One reading of each, at ``now_s`` of a clock that never jumps. Never raises."""
        if now_s - self._found_s >= _FIND_EVERY_S:
            self._find()
            self._found_s = now_s
        samples = []
        for name, link in self._links.items():
            if name in self._gone:
                samples.append(LinkSample(name, link.kind, GONE, missing=_MISSING_WHEN_GONE))
                continue
            sample = link.read(now_s)
            if sample.missing.get("state") == NOT_THERE:
                self._found_s = float("-inf")
            samples.append(sample)
        return tuple(samples)

    def _find(self) -> None:
        """Look which links there are. One that was here and is not stays, as gone.

        Where they may not be listed, those that are known are all there are.
        """
        found: dict[str, tuple[type[Link], str]] = {}
        try:
            found.update((name, (Port, at)) for name, at in find_ports(self._root).items())
            found.update(
                (name, (Interface, at)) for name, at in find_interfaces(self._root).items()
            )
        except OSError as error:
            self.missing = why(error)
            return
        self.missing = None
        links: dict[str, Link] = {}
        for turn, (name, (kind, folder)) in enumerate(found.items()):
            if len(links) == _MOST_LINKS:
                self.missing = f"the first {_MOST_LINKS} of {len(found)} are told"
                break
            links[name] = self._known(name) or kind(name, folder, turn)
        gone = {
            name: link
            for name, link in self._links.items()
            if name not in found and not os.path.exists(link.folder)  # noqa: PTH110 (never raises)
        }
        self._gone = frozenset(gone)
        self._links = {**links, **gone}

    def _known(self, name: str) -> Link | None:
        """The link as it was known; one that was gone is back as a new one."""
        return None if name in self._gone else self._links.get(name)
