"""What ``--kernel-log`` and ``--job-log`` may name, besides a path."""

from __future__ import annotations

AUTO = "auto"
NONE = "none"
KMSG = "kmsg"
JOURNAL = "journal"

JOB_LOG_VARIABLE = "GPUTUI_JOB_LOG"
"""A pattern of paths of job logs, beside what is found: for those who start the monitor through
other programs."""
