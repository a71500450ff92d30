"""What ``--kernel-log`` may name, besides a path."""

from __future__ import annotations

AUTO = "auto"
NONE = "none"
KMSG = "kmsg"
JOURNAL = "journal"
