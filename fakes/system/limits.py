"""What a process of a job may use on a node, in the form of /proc/PID/limits (proc(5)).

As clusters set it for jobs (LimitMEMLOCK=infinity and the like in slurmd's unit, ``ulimits`` of a
container runtime): locked memory without limit, for RDMA, and files enough for many sockets.
"""

from __future__ import annotations

_UNLIMITED = "unlimited"

_LIMITS = (
    ("Max cpu time", _UNLIMITED, _UNLIMITED, "seconds"),
    ("Max file size", _UNLIMITED, _UNLIMITED, "bytes"),
    ("Max data size", _UNLIMITED, _UNLIMITED, "bytes"),
    ("Max stack size", _UNLIMITED, _UNLIMITED, "bytes"),
    ("Max core file size", "0", _UNLIMITED, "bytes"),
    ("Max resident set", _UNLIMITED, _UNLIMITED, "bytes"),
    ("Max processes", "8254580", "8254580", "processes"),
    ("Max open files", "131072", "131072", "files"),
    ("Max locked memory", _UNLIMITED, _UNLIMITED, "bytes"),
    ("Max address space", _UNLIMITED, _UNLIMITED, "bytes"),
    ("Max file locks", _UNLIMITED, _UNLIMITED, "locks"),
    ("Max pending signals", "8254580", "8254580", "signals"),
    ("Max msgqueue size", "819200", "819200", "bytes"),
    ("Max nice priority", "0", "0", ""),
    ("Max realtime priority", "0", "0", ""),
    ("Max realtime timeout", _UNLIMITED, _UNLIMITED, "us"),
)


def limits_text() -> str:
    """The table, with the kernel's heading and columns (fs/proc/base.c)."""
    rows = (("Limit", "Soft Limit", "Hard Limit", "Units"), *_LIMITS)
    return "".join(
        f"{name:<25} {soft:<20} {hard:<20} {unit:<10}\n" for name, soft, hard, unit in rows
    )
