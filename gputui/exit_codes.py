"""What the programs' exit statuses mean."""

from __future__ import annotations

HEALTHY = 0
UNHEALTHY = 1
"""There are incidents of warning or worse."""

UNREADABLE = 2
"""The GPUs, or what was named, could not be read."""

BAD_USAGE = 64
"""As EX_USAGE of sysexits.h."""

INTERRUPTED = 130
"""By Ctrl-C, as a shell tells it."""

ANOTHER_PLEASE = 75
"""A sampler's: all is well, but only another process can go on (EX_TEMPFAIL of sysexits.h)."""
