"""Sensor noise without state: a hash of who reads what and when.

The same seed, GPU, sensor and time bucket always give the same value, however often and in
whatever order they are asked, on every machine.
"""

from __future__ import annotations

from struct import Struct
from zlib import crc32

_MASK = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15
_SPREAD = 0x9E3779B1
_number = Struct("<q").pack


def seed_of(*parts: object) -> int:
    """A 32-bit seed for a component, from its name: adding another component changes no other's."""
    return crc32("/".join(map(str, parts)).encode())


def mix(seed: int, bucket: int) -> int:
    """64 well-mixed bits of (``seed``, ``bucket``).

    By SplitMix64's finaliser (Steele, Lea and Flood, "Fast splittable pseudorandom number
    generators", OOPSLA 2014).
    """
    z = (seed * _GAMMA + bucket * 0xD1B54A32D192ED03) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def noise(seed: int, at_us: int, period_us: int, amplitude: int) -> int:
    """An integer in ``[-amplitude, amplitude]``, constant within each period of ``at_us``.

    ``seed`` has 32 bits. Every reading of a sensor comes by here, so it is made of little: the CRC
    of the period's number, begun with the seed, and a multiplication that takes its linearity away.
    """
    hashed = crc32(_number(at_us // period_us), seed) * _SPREAD >> 16
    return hashed % (2 * amplitude + 1) - amplitude
