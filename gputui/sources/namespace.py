"""Whether a PID that the driver tells is the process of that number in this /proc.

The driver knows the host's PIDs. In a container they may name nobody, or somebody else of the same
number, whom nobody should be shown in place of the other, or kill (Syllo/nvtop#149, XuehaiPan/
nvitop#134, NVIDIA/nvidia-docker#1483). Newer drivers translate them, so that the only proof is that
the process has a GPU's device open.
"""

from __future__ import annotations

import os

HOST_PID = "host PID, not visible here"
UNVERIFIED = "may be another process of the same number: its open files cannot be seen"
NOT_HERE = "not in this /proc: it has ended, or is hidden from this user"

_FIRST_NAMESPACE = "pid:[4026531836]"
"""The link of the namespace that the machine booted with (PROC_PID_INIT_INO, linux/proc_ns.h)."""

_MOST_FILES = 4096


class PidNamespace:
    """The one of a /proc. ``dev`` is where the GPUs' devices are."""

    def __init__(self, proc: str, dev: str) -> None:
        self._proc = proc
        self._device = f"{dev}/nvidia"
        try:
            here = os.readlink(f"{proc}/self/ns/pid")  # noqa: PTH115
        except OSError:
            here = _FIRST_NAMESPACE
        self.is_first = here == _FIRST_NAMESPACE
        # Where there are no devices nobody can have one open: the driver is no kernel's.
        self._verifies = not self.is_first and os.path.exists(f"{dev}/nvidiactl")  # noqa: PTH110

    @property
    def absent(self) -> str:
        """Why a PID is not in this /proc."""
        return NOT_HERE if self.is_first else HOST_PID

    def doubt(self, pid: int) -> str | None:
        """Why the process of that number may not be who the driver means; None if it is."""
        if not self._verifies:
            return None
        try:
            with os.scandir(f"{self._proc}/{pid}/fd") as files:
                for _, file in zip(range(_MOST_FILES), files, strict=False):
                    try:
                        target = os.readlink(file.path)  # noqa: PTH115
                    except FileNotFoundError:
                        continue  # closed meanwhile
                    if target.startswith(self._device):
                        return None
        except OSError:
            return UNVERIFIED
        return HOST_PID
