"""NVIDIA's own binding, imported without what it does not use.

It imports ``ctypes.util``, for a function that looks for libraries elsewhere than on Linux; that
takes two thirds of the time, and as much memory as the rest.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

_UNUSED = "ctypes.util"


def import_binding() -> Any:
    """The module ``pynvml`` (nvidia-ml-py). Raises ImportError."""
    if _UNUSED in sys.modules:
        import pynvml

        return pynvml
    stand_in = ModuleType(_UNUSED)
    stand_in.find_library = _find_library  # type: ignore[attr-defined]
    sys.modules[_UNUSED] = stand_in
    try:
        import pynvml
    finally:
        del sys.modules[_UNUSED]
    return pynvml


def _find_library(name: str) -> str | None:
    """The real one, for a binding that wants it after all."""
    from ctypes.util import find_library

    return find_library(name)
