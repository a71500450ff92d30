"""Look-alikes on a fake node; nvidia-smi's, and what the real one printed."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fakes.actions import Action
from fakes.commands.nvidia_smi import main
from fakes.commands.registry import Call, commands
from fakes.node import Driver, Node
from fakes.nvml.answer import Answer, answer
from fakes.nvml.answer import Call as NvmlCall
from fakes.profile import load_profile
from fakes.world import World

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Said:
    """What a call printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


@dataclass
class Smi:
    """nvidia-smi on a rig's node."""

    rig: Any
    paused_us: list[int] = field(default_factory=list)

    @property
    def addresses(self) -> list[str]:
        return [f"{gpu.bus_id}.0" for gpu in self.rig.node.gpus]

    def __call__(self, *argv: str, **given: Any) -> Said:
        out, err = io.StringIO(), io.StringIO()
        given = {"nvml": self.rig.nvml, "gpu_addresses": self.addresses, **given}
        status = main(argv, out=out, err=err, **given)
        return Said(status, out.getvalue(), err.getvalue())

    def csv(self, query: str, *argv: str) -> list[list[str]]:
        """The cells of a selective query's lines, without heading."""
        said = self(query, "--format=csv,noheader", *argv)
        assert said.status == 0, said
        return [line.split(", ") for line in said.lines]


class Answering:
    """nvidia-ml-py, but for some functions: they return these codes, and are noted in ``calls``."""

    def __init__(self, nvml: Any, **codes: int) -> None:
        self._nvml, self._codes = nvml, codes
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        if name not in self._codes:
            return getattr(self._nvml, name)

        def call(*inputs: Any) -> None:
            self.calls.append((name, *inputs[1:]))
            if code := self._codes[name]:
                raise self._nvml.NVMLError(code)

        return call


@pytest.fixture
def answering(smi: Smi) -> Callable[..., Answering]:
    """Let NVML's functions answer with codes: ``answering(nvmlInit=9)``."""
    return lambda **codes: Answering(smi.rig.nvml, **codes)


@pytest.fixture
def make_smi(make_rig: Callable[..., Any]) -> Callable[..., Smi]:
    """nvidia-smi on a node of ``gpus`` GPUs; ``driver`` is its driver's version."""

    def make(*, driver: str = "570.124.06", cuda: tuple[int, int] = (12, 8), **kinds: Any) -> Smi:
        rig = make_rig(**kinds)
        rig.node.driver = Driver(driver, cuda, f"{cuda[0]}.{driver}")
        return Smi(rig)

    return make


@pytest.fixture
def smi(make_smi: Callable[..., Smi]) -> Smi:
    """nvidia-smi on two GPUs under a training job."""
    return make_smi()


@dataclass(frozen=True)
class Capture:
    """The outputs of a real nvidia-smi, by what was running and how it was called."""

    sections: dict[tuple[str, str], str]

    def __getitem__(self, which: tuple[str, str]) -> str:
        return self.sections[which]


_HEADING = re.compile(r"#{80}\n# (\w+) :: (.*)\n(?:# .*\n)*#{80}\n")


@pytest.fixture(scope="session")
def captured() -> Callable[[str], Capture]:
    """Read the captures of a model: ``captured("h100-80gb")[("load", "query (-q)")]``.

    They are no part of the project: where they are not, tests are skipped.
    """
    folder = Path(os.environ.get("GPUTUI_SHARED_DATA", ROOT.parent / "shared" / "data"))

    def read(model: str) -> Capture:
        files = sorted((folder / "nvidia-smi-captures").glob(f"{model}*.txt"))
        if not files:
            pytest.skip(f"no captures of {model} in {folder}")
        _, *parts = _HEADING.split(files[0].read_text(encoding="utf-8"))
        sections = {
            (state, name): text.removesuffix("\n\n")
            for state, name, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        }
        return Capture(sections)

    return read


@pytest.fixture
def h100(captured: Callable[[str], Capture]) -> Capture:
    """What driver 590 said of one H100, idle and under load."""
    return captured("h100-80gb")


@pytest.fixture
def on_h100(make_smi: Callable[..., Smi]) -> Callable[..., Smi]:
    """nvidia-smi on one fake H100 with the driver of the capture."""

    def make(*, idle: bool) -> Smi:
        return make_smi(gpus=1, idle=idle, driver="590.48.01", cuda=(13, 1))

    return make


@dataclass
class Shell:
    """A node's commands, called by name as a run calls them."""

    world: World
    nvml: Any
    rig: Any
    spawned: list[list[str]] = field(default_factory=list)
    spawn_status: int = 0

    @property
    def node(self) -> Any:
        return self.world.nodes["n0"]

    def __call__(self, name: str, *argv: str, stdin: str = "", user: str = "root") -> Said:
        out, err = io.StringIO(), io.StringIO()
        call = Call(
            argv=argv, out=out, err=err, node=self.node, world=self.world, nvml=self.nvml,
            clock=lambda: self.node.epoch.unix_us(self.world.now_us) / 1e6, pause=self._pause,
            spawn=self._spawn, env={}, user=user, stdin=io.StringIO(stdin), program=name,
        )  # fmt: skip
        status = commands()[name](call)
        return Said(status, out.getvalue(), err.getvalue())

    def _pause(self, us: int) -> None:
        self.rig.at_us = self.world.now_us + us
        self.world.advance(self.rig.at_us)

    def _spawn(self, words: Any, for_us: int | None) -> int:
        self.spawned.append(list(words))
        return self.spawn_status


@pytest.fixture
def make_shell(make_rig: Callable[..., Any]) -> Callable[..., Shell]:
    """A node, and its commands by name."""

    def make(**kinds: Any) -> Shell:
        rig = make_rig(**kinds)
        rig.world.advance(rig.at_us)
        return Shell(rig.world, rig.nvml, rig)

    return make


@pytest.fixture
def shell(make_shell: Callable[..., Shell]) -> Shell:
    """Eight GPUs under a training job."""
    return make_shell(gpus=8)


class Machine:
    """Commands on the first of two nodes under Slurm; ``done`` are the actions on it."""

    def __init__(self, model: str = "h100-sxm") -> None:
        profile = load_profile(model)
        nodes = [Node(f"n{number}", profile, 2) for number in range(2)]
        self.world = World(nodes, schedules=True)
        self.node = nodes[0]
        self.done: list[Action] = []
        self.node.actions.listen(self.done.append)

    def __call__(self, name: str, *argv: str, **given: Any) -> tuple[int, str]:
        """The exit status, and what was printed on both streams."""
        out, err = io.StringIO(), io.StringIO()
        call = Call(
            argv=argv,
            out=out,
            err=err,
            node=self.node,
            world=self.world,
            nvml=None,
            pause=lambda us: self.later(us / 1e6),
            **{"env": {"TZ": "UTC"}, "program": name, "clock": self.clock, **given},
        )
        status = commands()[name](call)
        return status, out.getvalue() + err.getvalue()

    def clock(self) -> float:
        """The node's Unix time."""
        return self.node.epoch.unix_us(self.world.now_us) / 1e6

    def later(self, seconds: float) -> None:
        """Let time pass."""
        self.world.advance(self.world.now_us + round(seconds * 1_000_000))

    def answer(self, call: NvmlCall) -> Answer:
        """What NVML answers now."""
        return answer(self.node, call, self.world.now_us)

    @property
    def effects(self) -> list[tuple[str, str]]:
        """What was done, and to what."""
        return [(action.effect.value, action.detail) for action in self.done]


@pytest.fixture
def make_machine() -> Callable[..., Machine]:
    """A machine of a model, a minute after its run began."""

    def make(model: str = "h100-sxm") -> Machine:
        made = Machine(model)
        made.later(60)
        return made

    return make


@pytest.fixture
def machine(make_machine: Callable[..., Machine]) -> Machine:
    """An H100 node."""
    return make_machine()
