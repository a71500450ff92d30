"""Commands that have no look-alike."""

import csv
import os
import re
from pathlib import Path

import pytest

from fakes.commands.registry import NOT_UNDERSTOOD, commands
from fakes.commands.unmodelled import EVERYWHERE

SHARED = Path(os.environ.get("GPUTUI_SHARED_FACTS", Path(__file__).parents[4] / "shared" / "facts"))
THE_MACHINES_OWN = {
    "curl", "grep", "kill", "killall5", "pkill", "pgrep", "pidof", "lsof", "fuser", "ps",
    "parallel-ssh", "nsenter",
}  # fmt: skip
"""Programs that act on the node's own processes or files, or on what they are given."""


@pytest.mark.parametrize("name", [name for name in EVERYWHERE if name != "rdma"])
def test_a_command_that_nobody_imitates_proves_nothing(machine, name):
    """It says so, and ends with 125; unless it has a look-alike by now."""
    if commands()[name].function.__module__ != "fakes.commands.unmodelled":
        pytest.skip("it has a look-alike")
    status, said = machine(name, "--anything")
    assert (status, said) == (NOT_UNDERSTOOD, f"{name}: this command is not known here\n")


def test_no_command_of_public_scripts_is_the_machines_own():
    """Every command that public scripts call has a look-alike, or a stand-in that says 125."""
    file = SHARED / "commands_used.csv"
    if not file.is_file():
        pytest.skip(f"{file} is not here")
    with file.open(encoding="utf-8", newline="") as rows:
        names = {
            name
            for row in csv.DictReader(rows)
            for name in re.split(r"\s*/\s*", row["command"])
            if re.fullmatch(r"[a-z][\w.-]*", name)
        }
    assert len(names) > 40
    assert names - set(commands()) - THE_MACHINES_OWN == set()


@pytest.mark.parametrize("name", ["show_gids", "dkms", "iostat", "lsscsi", "dpkg"])
def test_a_stand_in_needs_no_program_of_the_machine(name):
    """What a machine lacks is noted just as what it has."""
    assert name in commands()
