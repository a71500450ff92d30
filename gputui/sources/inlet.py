"""The air that comes into the machine, where one of its sensors tells.

Sensors stand in /sys/class/hwmon, each with a label of the vendor's and its reading in thousandths
of a degree (Documentation/hwmon/sysfs-interface.rst of Linux). What a service processor alone knows
takes IPMI, which needs root and seconds, and is not asked: who asks it now and then may write the
degrees into a file that the environment names.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from gputui.sources.files import OpenFiles, read_text, why
from gputui.sources.reasons import garbage

ENVIRONMENT = "GPUTUI_INLET"
"""Names a file that has degrees Celsius in it, in place of any sensor."""

NO_SENSOR = "no sensor of the machine tells it"

_INLET = re.compile(r"\b(?:inlet|intake|front panel)\b", re.I)
_AMBIENT = re.compile(r"\bambient\b", re.I)
_COLDEST_C, _WARMEST_C = -40.0, 100.0


class InletReader:
    """Finds the sensor once, and reads it again and again. ``root`` is where ``sys`` lies."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._open = OpenFiles()
        given = os.environ.get(ENVIRONMENT)
        self._path = given or _find(root)
        self._unit_c = 1.0 if given else 0.001

    def read(self) -> tuple[float | None, str]:
        """Degrees Celsius, or None and why."""
        if self._path is None:
            return None, NO_SENSOR
        try:
            text = self._open.read(self._path, 32).strip()
            degrees = round(float(text) * self._unit_c, 3)
        except OSError as error:
            return None, why(error)
        except ValueError:
            return None, garbage(repr(text))
        if not _COLDEST_C <= degrees <= _WARMEST_C:
            return None, garbage(f"{degrees:g} C")
        return degrees, ""


def _find(root: Path) -> str | None:
    """The reading whose label says inlet, or else ambient: the first of them by its path."""
    labels: dict[Path, str] = {}
    with contextlib.suppress(OSError):
        for path in sorted(root.glob("sys/class/hwmon/hwmon*/temp*_label")):
            with contextlib.suppress(OSError):
                labels[path] = read_text(str(path))
    for wanted in (_INLET, _AMBIENT):
        for path, label in labels.items():
            if wanted.search(label):
                return str(path).removesuffix("_label") + "_input"
    return None
