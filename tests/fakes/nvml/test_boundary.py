"""What a C program sees of the library, byte for byte."""

from __future__ import annotations

import os
import subprocess
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

CHAPTERS = (
    "before_init",
    "lists",
    "own_lists",
    "texts",
    "structures",
    "fields",
    "errors",
    "setters",
    "lifecycle",
    "forks",
    "forks_anywhere",
    "events",
    "threads",
)


def run(client: Path, simulator, chapter: str, **options: Any) -> None:
    done = subprocess.run(
        [client, simulator.library, chapter],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_c_program_gets_nvml_by_the_book(client: Path, lasting, chapter: str) -> None:
    """No byte beyond a caller's buffer, the right codes, the right values: see ``client.c``. And
    what a program does not free is freed when it, and its children, have ended.
    """
    run(client, lasting, chapter)
    until_s = time.monotonic() + 10
    while lasting.tell("sets") != "0":
        assert time.monotonic() < until_s


def test_readings_of_one_generation_are_of_one_moment(client: Path, simulator) -> None:
    """A reader in a loop never sees two moments in one generation, while the writer publishes as
    fast as it can.
    """
    simulator.send("storm 10000")
    run(client, simulator, "one_moment")


def test_no_answer_is_half_of_one_moment_and_half_of_another(client: Path, simulator) -> None:
    """A reader that is interrupted in the middle of copying, for longer than a publication takes,
    starts over. Both share one processor here, so that this happens all the time.
    """
    cpu = {min(os.sched_getaffinity(0))}
    os.sched_setaffinity(simulator.process.pid, cpu)
    simulator.send("storm 100000")
    run(client, simulator, "whole", preexec_fn=partial(os.sched_setaffinity, 0, cpu))
    simulator.kill()
