"""Whether the driver's device files may be used from here: what a container that lost them shows.

Nothing is opened: access(2) asks the container's device rules as opening would, and wakes no GPU.
"""

from __future__ import annotations

import os
from pathlib import Path

USABLE, REFUSED, ABSENT = "usable", "refused", "absent"

_CONTROL = "nvidiactl"


def device_files(root: Path) -> str:
    """``usable``, ``refused`` (they are there, but not for us) or ``absent``."""
    control = f"{root}/dev/{_CONTROL}"
    if not os.path.lexists(control):
        return ABSENT
    return USABLE if os.access(control, os.R_OK | os.W_OK) else REFUSED
