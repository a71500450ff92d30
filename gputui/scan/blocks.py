"""A log's bytes in big blocks of whole lines, whatever the log is packed in.

Blocks are some hundred kilobytes, so that they stay in a processor's cache while several searches
run over each. Memory is bounded: of a line that never ends the beginning is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import IO, Protocol

STDIN = "-"

BLOCK_BYTES = 1 << 18
LONGEST_LINE = 1 << 16
"""Of longer lines this much is looked at: what means something begins a line."""

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "lzma",
    b"\x28\xb5\x2f\xfd": "zstd",
}


class UnreadableError(Exception):
    """A log that cannot be read: which, why, and what to do."""


class ByteSource(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""


def blocks(name: str, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """The blocks of a log, each ending with the end of a line, the last one perhaps without.

    ``name`` is a path, or ``-`` for standard input; it may be packed (gzip, bzip2, xz; zstd where
    Python can). Raises :class:`UnreadableError`.
    """
    try:
        with _opened(name) as file:
            yield from whole_lines(_unpacked(name, file), size)
    except IsADirectoryError:
        raise UnreadableError(f"{name}: is a directory; name the files in it") from None
    except FileNotFoundError:
        raise UnreadableError(f"{name}: no such file") from None
    except PermissionError:
        raise UnreadableError(f"{name}: no permission to read it (group adm, or root)") from None
    except EOFError:
        raise UnreadableError(
            f"{name}: its packing ends too early; what was there is read"
        ) from None
    except OSError as error:
        raise UnreadableError(f"{name}: {error.strerror or error}") from None


def whole_lines(source: ByteSource, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """What a source gives, cut after ends of lines.

    A line longer than a block is cut off after ``LONGEST_LINE`` bytes.
    """
    half = b""
    is_cut = False
    while data := source.read(size):
        end = data.rfind(b"\n") + 1
        if not end:
            half = half if is_cut else half + data
            if len(half) > LONGEST_LINE:
                half, is_cut = half[:LONGEST_LINE], True
            continue
        if is_cut:  # the rest of a line that was too long
            begin = data.find(b"\n")
            yield half + data[begin:end]
        else:
            yield half + data[:end] if half else data[:end]
        half, is_cut = data[end:], False
    if half:
        yield half


def _opened(name: str) -> IO[bytes]:
    if name == STDIN:
        return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
    return open(name, "rb", buffering=0)  # noqa: PTH123


def _unpacked(name: str, file: IO[bytes]) -> ByteSource:
    """The file as it is, or unpacked if its first bytes say that it is packed."""
    first = file.read(8) or b""
    packing = next((how for magic, how in _MAGIC.items() if first.startswith(magic)), None)
    whole = _Again(first, file)
    if packing is None:
        return whole
    return _Guarded(name, packing, whole)


class _Again:
    """A file of which the first bytes were read already, as if they had not been."""

    def __init__(self, first: bytes, file: IO[bytes]) -> None:
        self._first = first
        self._file = file

    def read(self, size: int = -1, /) -> bytes:
        """Return what comes next."""
        if not self._first:
            return self._file.read(size) or b""
        end = len(self._first) if size < 0 else size
        first, self._first = self._first[:end], self._first[end:]
        return first + (self._file.read(size - len(first) if size >= 0 else -1) or b"")


class _Guarded:
    """A packed file; what its packing complains of is an :class:`UnreadableError`."""

    def __init__(self, name: str, packing: str, file: _Again) -> None:
        self._name = name
        self._packing = packing
        self._file = _unpacker(name, packing, file)

    def read(self, size: int, /) -> bytes:
        """Return unpacked bytes."""
        import zlib
        from lzma import LZMAError

        try:
            return self._file.read(size)
        except (zlib.error, LZMAError, ValueError) as error:
            raise UnreadableError(
                f"{self._name}: its {self._packing} packing is damaged ({error}); "
                "what came before is read"
            ) from None


def _unpacker(name: str, packing: str, file: _Again) -> ByteSource:
    from importlib import import_module
    from typing import Any, cast

    if packing == "zstd":
        try:
            # Part of Python from 3.14 on; elsewhere a package may bring it.
            module = import_module("compression.zstd")
        except ImportError:
            raise UnreadableError(
                f"{name}: is packed with zstd, which this Python cannot unpack; "
                f"try: zstdcat {name} | gputui scan -"
            ) from None
        return cast("ByteSource", module.ZstdFile(cast("Any", file)))
    opener = {"gzip": "GzipFile", "bz2": "BZ2File", "lzma": "LZMAFile"}[packing]
    unpacker = getattr(import_module(packing), opener)
    if packing == "gzip":
        return cast("ByteSource", unpacker(fileobj=file))
    return cast("ByteSource", unpacker(cast("Any", file)))
