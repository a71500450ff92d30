"""One search over a block of bytes, as fast as the machine can.

The C library's memmem looks at several bytes at a time, which is twice as fast as ``bytes.find``,
though each call takes longer; where there is none, ``bytes.find`` does the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Find = Callable[[bytes, int], int]
"""Where a needle is found from a place on; -1 if it is not."""


def finder(block: bytes) -> Find:
    """The search over one block, which has to live as long as the search is used."""
    if _memmem is None:
        return block.find
    memmem, length = _memmem, len(block)
    base: int = _address(block)

    def find(needle: bytes, begin: int) -> int:
        at = memmem(base + begin, length - begin, needle, len(needle))
        return -1 if at is None else int(at) - base

    return find


def _library() -> tuple[Any, Callable[[bytes], int]]:
    """The C library's function, and what tells where bytes lie in memory."""
    try:
        import ctypes

        memmem = ctypes.CDLL(None).memmem
    except (ImportError, OSError, AttributeError):
        return None, id
    memmem.restype = ctypes.c_void_p
    memmem.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)

    def address(block: bytes) -> int:
        return ctypes.cast(ctypes.c_char_p(block), ctypes.c_void_p).value or 0

    return memmem, address


_memmem, _address = _library()
