"""Which lines of a job's log are worth a closer look: a gigabyte of progress costs seconds.

Most lines of a log differ from others only in their numbers. So the numbers are taken out of a
whole block at once; of what is then new, the words are looked up among those of the known texts;
and only lines with such a word are searched for the pieces that a known text must have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from gputui.logs.text_facts import text_facts

_NUMBERS = b"0123456789+%\0"
_WORD = re.compile(rb"[A-Za-z]{4,}")

_MOST_KNOWN = 50_000
_LONGEST_LINE = 16_384
"""Of a longer line the beginning is looked at: words come first, what is long is data."""

_CUDA_NEEDLES = (
    "CUDA error", "CUDA driver", "CUDA runtime", "CUDA Runtime", "CUDA Driver", "CUDA failure",
    "CUDA warning", "CUDA exception", "CUDA Error", "CUDA initialization", "Cuda failure",
    "Cuda error", "Cuda Runtime", "CUDA API", "CUDA kernel", "CUDA Kernel", "cudaError",
    "CUDA_ERROR_", "cuda runtime error", "GPUassert", "GPU kernel assertion", "Call to cu",
    "CUDA-capable", "illegal memory access", "unspecified launch failure", "uncorrectable",
    "invalid device ordinal", "no kernel image", "not yet initialized", "side assert triggered",
    "unsupported display driver", "forward compatibility was", "PTX was compiled",
    "fabric is not ready", "Invalid access of peer",
)  # fmt: skip
"""What announces a CUDA error, and the words of those that may stand alone."""

_WITHOUT_WORD = ("cudaError", "PytorchStream", "Failed to cuMem", "REM_OP_ERR", "NET/")
"""Beginnings of words, and pieces without any: they are searched for as they are."""

_EVERYDAY = frozenset(
    b"memory with from that this have failed error rank time device data host load file process "
    b"step loss model read wait size name could about been than more some version while found "
    b"using used total number count value values batch training train Error WARN Using message "
    b"status state system invalid service Failed running without during available worker workers "
    b"event process remote address connect network space library".split()
)
"""Words that any log is full of: a needle is looked up by another of its words, if it has one."""


@cache
def needles() -> tuple[bytes, ...]:
    """Pieces of the known texts, one of which every line worth a look has; without numbers."""
    pieces = {needle for fact in text_facts().values() for needle in fact.needles}
    pieces |= {*_CUDA_NEEDLES, *_WITHOUT_WORD}
    return tuple(sorted({piece.encode().translate(None, _NUMBERS) for piece in pieces}))


@cache
def _by_word() -> Mapping[bytes, tuple[bytes, ...]]:
    """The needles under the word by which each is looked up."""
    under: dict[bytes, list[bytes]] = {}
    for needle in needles():
        word = word_of(needle)
        if word is not None:
            under.setdefault(word, []).append(needle)
    return {word: tuple(below) for word, below in under.items()}


def word_of(needle: bytes) -> bytes | None:
    """The word by which a needle is looked up: its rarest; None for one that has none of its own.

    A text with the needle in it has the word as one of its :func:`words`.
    """
    if any(needle.startswith(prefix.encode()) for prefix in _WITHOUT_WORD):
        return None
    found = sorted(_WORD.findall(needle), key=lambda word: (word in _EVERYDAY, -len(word)))
    return found[0] if found else None


def words(text: bytes) -> set[bytes]:
    """The words of a text, by which needles are looked up."""
    return set(_WORD.findall(text))


class Sieve:
    """Remembers which lines are worth nothing, whatever the numbers in them; bounded."""

    def __init__(self) -> None:
        self._nothing: set[bytes] = set()

    def pick(self, block: bytes) -> Iterator[tuple[int, bytes]]:
        """The lines of a block that may hold a known text, each with its number from 0.

        What a carriage return separates are lines on a screen: of them those that qualify come,
        with the number of the line they are in.
        """
        bare = block.translate(None, _NUMBERS)
        returns = b"\r" in bare
        if returns:
            bare = bare.replace(b"\r", b"\n")
        all_bare = bare.split(b"\n")
        lines = set(all_bare)
        lines -= self._nothing
        telling = _telling(lines)
        if len(self._nothing) > _MOST_KNOWN:
            self._nothing.clear()
        self._nothing.update(line for line in lines - telling if len(line) <= _LONGEST_LINE)
        if not telling:
            return
        if not returns:
            whole = block.split(b"\n")
            for number, line in enumerate(all_bare):
                if line in telling and line:
                    yield number, whole[number][:_LONGEST_LINE]
            return
        for number, drawn in enumerate(block.split(b"\n")):
            for line in drawn.split(b"\r"):
                if line and line.translate(None, _NUMBERS) in telling:
                    yield number, line[:_LONGEST_LINE]


def _telling(lines: set[bytes]) -> set[bytes]:
    """Those of some lines that hold a needle; the lines are without numbers."""
    if not lines:
        return set()
    together = b"\n".join(lines)
    under = _by_word()
    wanted = [needle for word in words(together) & under.keys() for needle in under[word]]
    wanted += map(str.encode, _WITHOUT_WORD)
    wanted = [needle for needle in wanted if needle in together]
    return (
        {line for line in lines if any(needle in line[:_LONGEST_LINE] for needle in wanted)}
        if wanted
        else set()
    )
