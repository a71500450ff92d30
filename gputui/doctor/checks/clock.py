"""Time: logs of several nodes are compared by it, and certificates judged."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from gputui.doctor.check import Result, check, good, unchecked, warning
from gputui.doctor.site import Site

_TIME_ERROR = 5
"""What adjtimex(2) returns while nobody keeps the clock right (timex.h)."""

_TIMEX_BYTES = 256
"""More than struct timex is on any machine; zeros in it ask and set nothing."""

_ASKED = ("timedatectl", "show", "--property=NTPSynchronized")


@check("clock")
def clock(site: Site) -> Iterator[Result]:
    """The clock is kept right by somebody."""
    synchronised = _by_timedated(site)
    if synchronised is None:
        synchronised = clock_is_synchronised()
    if synchronised is None:
        yield unchecked("the kernel does not tell", fix="timedatectl")
    elif not synchronised:
        yield warning(
            "the kernel says that nobody keeps the clock right", fix="timedatectl set-ntp true"
        )
    else:
        yield good("synchronised")


def _by_timedated(site: Site) -> bool | None:
    """What the system's own tool passes on of the kernel's word; None where there is none."""
    told = (site.tool(_ASKED) or "").strip()
    return {"NTPSynchronized=yes": True, "NTPSynchronized=no": False}.get(told)


def clock_is_synchronised() -> bool | None:
    """The kernel's word for its clock (adjtimex(2)); None where it may not be asked."""
    try:
        asked = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    except (OSError, AttributeError):
        return None
    return None if asked < 0 else int(asked) != _TIME_ERROR
