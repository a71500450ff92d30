"""Bytes in, whole lines out, within bounds."""

from __future__ import annotations

DEFAULT_LIMIT_BYTES = 64 * 1024


class LineBuffer:
    """Joins what comes in pieces and gives back the lines that are complete.

    A line longer than ``limit_bytes`` is dropped up to its end, so that a writer that never ends
    its line cannot fill the memory; ``dropped`` counts such lines.
    """

    def __init__(self, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self.dropped = 0
        self._limit_bytes = limit_bytes
        self._half = b""
        self._dropping = False

    @property
    def pending(self) -> bool:
        """Whether a half line waits for its end."""
        return bool(self._half)

    def feed(self, data: bytes) -> list[bytes]:
        """Add what was read; return the lines it completed, without their ends."""
        *lines, half = (self._half + data).split(b"\n")
        if lines and self._dropping:
            del lines[0]
            self._dropping = False
        if len(half) > self._limit_bytes:
            self.dropped += not self._dropping
            self._dropping = True
        self._half = b"" if self._dropping else half
        kept = [line for line in lines if len(line) <= self._limit_bytes]
        self.dropped += len(lines) - len(kept)
        return kept

    def rest(self) -> bytes:
        """Return the half line, when nothing will complete it any more."""
        half, self._half = self._half, b""
        return half

    def clear(self) -> None:
        """Forget the half line: what follows is another file."""
        self._half = b""
        self._dropping = False
