"""A C program made from NVIDIA's own header: the node's NVML keeps to it, byte for byte."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.nvml.shim.build import compiler

SOURCE = Path(__file__).with_name("by_header.c")
PATIENCE_S = 120.0


def header_folder() -> Path | None:
    """Where nvidia-nvml-dev has put ``nvml.h``."""
    found = importlib.util.find_spec("nvidia")
    places = found.submodule_search_locations if found else None
    headers = [header for place in places or () for header in Path(place).glob("*/include/nvml.h")]
    return headers[0].parent if headers else None


def test_a_program_made_from_the_header_finds_nothing_wrong(
    start: Callable[..., Any], folder: Path
) -> None:
    """Every buffer ends where memory ends; lists of every version with room for none, one too few,
    enough and one too many; versions, strings, errors, events, and children forked between calls.
    """
    include = header_folder()
    if include is None:
        pytest.skip("nvidia-nvml-dev is not installed")
    simulator = start(folder / "node", "node_simulator.py", "20")
    for _ in range(2):
        simulator.tell("process 5")
    program = folder / "by_header"
    link = [f"-L{simulator.directory}", "-l:libnvidia-ml.so.1"]
    command = [*compiler(), "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations"]
    subprocess.run([*command, f"-I{include}", "-o", program, SOURCE, *link], check=True)
    running = subprocess.Popen(
        [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "LD_LIBRARY_PATH": str(simulator.directory)},
    )  # fmt: skip
    assert running.stdin is not None and running.stdout is not None
    try:
        for line in running.stdout:
            simulator.tell(line.strip())
            running.stdin.write("done\n")
            running.stdin.flush()
        _, wrong = running.communicate(timeout=PATIENCE_S)
    finally:
        running.kill()
        running.communicate()
    assert running.returncode == 0, wrong
