"""NVIDIA's binding is imported without what it does not use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import gputui

ROOT = Path(gputui.__file__).parents[1]

PROGRAM = """
import sys
from gputui.sources.binding import import_binding
pynvml = import_binding()
print(pynvml.NVML_SUCCESS, "tempfile" in sys.modules, "ctypes.util" in sys.modules)
import ctypes.util
print(pynvml.find_library is not ctypes.util.find_library)
print(pynvml.find_library("c") == ctypes.util.find_library("c"))
print(import_binding() is pynvml)
"""


def test_the_binding_is_whole_and_what_it_wants_is_found_when_it_is_asked_for() -> None:
    """Nothing else is replaced: whoever imports the module that was left out gets the real one."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0", "False", "False", "True", "True", "True"]
