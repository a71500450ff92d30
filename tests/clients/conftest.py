"""Where the real programs are; a missing one is a skip, or a failure where they are required."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = (Path(sys.executable).parent, ROOT / ".cache/nvtop/root/usr/bin")


@pytest.fixture
def program() -> Callable[[str, str], str]:
    """The path of a program: ``program("nvtop", "how to get it")``."""

    def find(name: str, remedy: str) -> str:
        for place in PLACES:
            if (place / name).exists():
                return str(place / name)
        if found := shutil.which(name):
            return found
        message = f"{name} is not here: {remedy}"
        if os.environ.get("GPUTUI_REQUIRE_CLIENTS"):
            pytest.fail(message)
        pytest.skip(message)

    return find
