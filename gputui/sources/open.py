"""Which source ``--source`` names."""

from __future__ import annotations

from gputui.errors import SourceError
from gputui.logs.choice import AUTO
from gputui.sources.source import Source
from gputui.sources.spawn import Spawned

EXPECTED = "local, ssh:HOST, stream=PATH or replay=FILE"


def open_source(
    text: str, interval_s: float, kernel_log: str = AUTO, spawned: Spawned | None = None
) -> Source:
    """Open a source; raises :class:`SourceError` with what was found and what was expected.

    ``kernel_log`` is for a source elsewhere, where it is to be read; ``spawned`` is a sampler of
    this machine that is on its way already.
    """
    kind, equals, path = text.partition("=")
    if text == "local":
        from gputui.sources.child import ChildSource

        return ChildSource(interval_s, spawned=spawned)
    if text.startswith("ssh:"):
        from gputui.sources.ssh import SshSource

        return SshSource(text.removeprefix("ssh:"), interval_s, kernel_log)
    if kind in ("stream", "replay") and equals:
        if not path:
            raise SourceError(f"--source {kind}= names no file; expected {EXPECTED}")
        if kind == "stream":
            from gputui.sources.stream import StreamSource

            return StreamSource(path)
        from gputui.sources.replay import ReplaySource

        return ReplaySource(path)
    raise SourceError(f'no source "{text}"; expected {EXPECTED}')
