"""The kernel that a node runs: the one of Ubuntu 22.04, which GPU servers commonly have."""

from __future__ import annotations

RELEASE = "5.15.0-126-generic"
BUILD = "#136-Ubuntu SMP Wed Nov 6 10:38:22 UTC 2024"
VERSION_LINE = (
    f"Linux version {RELEASE} (buildd@lcy02-amd64-014) (gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0, "
    f"GNU ld (GNU Binutils for Ubuntu) 2.38) {BUILD}"
)
"""What /proc/version says."""
