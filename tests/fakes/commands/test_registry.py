"""Look-alike commands: how they are found, and what they are given."""

from __future__ import annotations

import io
from typing import Any, TextIO

import pytest

from fakes.commands import registry
from fakes.commands.generate import INDEX, index_text
from fakes.commands.registry import Call, command, commands
from fakes.hardware.gpu import Lost


@pytest.fixture
def alone(monkeypatch):
    """A registry of the test's own."""
    monkeypatch.setattr(registry, "_commands", {})


def call_of(rig: Any, *argv: str, **given: Any) -> Call:
    return Call(
        argv=argv,
        out=given.pop("out", io.StringIO()),
        err=io.StringIO(),
        node=rig.node,
        world=rig.world,
        nvml=rig.nvml,
        clock=lambda: 0.0,
        pause=lambda us: None,
        env={},
        **given,
    )


def test_a_command_is_found_by_its_name():
    """Whatever lies in the package is there, without a list to keep."""
    assert commands()["nvidia-smi"].names == ("nvidia-smi",)


def test_the_index_of_commands_is_up_to_date():
    """Whoever adds a command, or a name, runs ``python -m fakes.commands.generate``."""
    assert INDEX.read_text(encoding="utf-8") == index_text()


def test_a_command_that_the_index_does_not_name_yet_is_found(monkeypatch):
    """A new file is all that a new command takes."""
    known = {module: names for module, names in registry.NAMES.items() if module != "dmesg"}
    monkeypatch.setattr(registry, "NAMES", known)
    assert commands.__wrapped__()["dmesg"].names == ("dmesg",)


def test_a_command_is_given_what_its_parameters_name(rig, alone):
    """Names are enough; what is not named is not handed over."""

    @command("whoami", latency_us=1000)
    def main(user: str, out: TextIO) -> int:
        out.write(f"{user}\n")
        return 3

    out = io.StringIO()
    found = registry._commands["whoami"]
    assert found(call_of(rig, user="alice", out=out)) == 3
    assert out.getvalue() == "alice\n"


def test_a_parameter_that_nobody_gives_is_named_at_once(alone):
    """The mistake is found when the module is loaded, and the close name is told."""
    with pytest.raises(ValueError, match=r"is given 'envv'; did you mean env\? Known: argv, "):

        @command("env", latency_us=1000)
        def main(envv: str) -> int:
            return 0


def test_a_command_is_written_once(alone):
    """Two modules cannot both have a name."""

    @command("date", latency_us=1000)
    def main() -> int:
        return 0

    with pytest.raises(ValueError, match="the command date is written twice"):
        command("date", latency_us=1000)(main)


def test_latency_may_depend_on_the_arguments():
    """A reset takes longer than a look; a help text hardly anything."""
    smi = commands()["nvidia-smi"]
    assert smi.latency_us(["-h"]) < smi.latency_us(["-L"]) < smi.latency_us(["-r", "-i", "0"])
    assert smi.latency_us([]) == 600_000


def test_nvidia_smi_runs_from_a_call(rig):
    """The addresses of GPUs that fell off the bus come from the node's list, not from NVML."""
    rig.node.gpus[1].lost = Lost(0)
    out = io.StringIO()
    status = commands()["nvidia-smi"](call_of(rig, "-L", out=out))
    assert status == 0
    assert "handle for gpu 0000:43:00.0: Unknown Error" in out.getvalue()
