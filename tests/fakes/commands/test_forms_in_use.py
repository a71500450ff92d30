"""Every form of a command that public scripts use is understood, on a healthy and a faulty node."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from fakes.commands.registry import NOT_UNDERSTOOD, commands
from fakes.hardware.fabric import FabricState
from fakes.hardware.gpu import Lookup, Lost

FORMS = [
    line
    for line in (Path(__file__).parents[2] / "data" / "forms_in_use.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
THE_MACHINES_OWN = {"last"}
"""Commands that no look-alike stands for: scripts meet the machine's own, in its containment."""
NOT_YET = {"curl", "fuser", "lsof", "pkill"}
"""Commands whose look-alike may not be there; where one is, it must understand its forms."""


def healthy(make_shell):
    """Eight GPUs under a job."""
    return make_shell(gpus=8)


def faulty(make_shell):
    """One GPU is lost, one waits for its reset, one has bad memory and links, services are down."""
    shell = make_shell(gpus=8)
    node = shell.node
    node.gpus[3].lost = Lost(0, Lookup.LOST)
    node.gpus[5].reset_required = True
    node.gpus[6].remapped_rows.pending = True
    node.gpus[6].nvlinks[2].up = False
    node.gpus[7].fabric.state = FabricState.NOT_STARTED
    for adapter in node.network.adapters[:1]:
        adapter.set_link(up=False)
    node.network.settle()
    node.services.stop("nvidia-fabricmanager", shell.world)
    node.services.stop("nvidia-dcgm", shell.world)
    return shell


@pytest.mark.parametrize("state", [healthy, faulty])
@pytest.mark.parametrize("form", FORMS)
def test_it_is_understood(form, state, make_shell):
    """Whatever its exit status, it is never 125: what a script does next means something."""
    name, *argv = shlex.split(form)
    if name not in commands():
        assert name in THE_MACHINES_OWN | NOT_YET
        pytest.skip(f"there is no look-alike {name}")
    shell = state(make_shell)
    try:
        said = shell(name, *argv)
    except LookupError as error:  # it would become another program, and has no process here
        assert "no process of its own" in str(error)
        return
    assert said.status != NOT_UNDERSTOOD, said.err
    assert 0 <= said.status < 256
