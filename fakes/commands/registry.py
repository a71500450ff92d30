"""How a look-alike command is written, found by name, and called.

A look-alike is one module (or package) of ``fakes/commands/``. It is found by itself; an index says
which module has which commands, so that only what is called is imported (``python -m
fakes.commands.generate``). It has one function that does what the command does and returns its exit
status::

    @command("dmesg", latency_us=5_000)
    def main(argv: Sequence[str], node: Node, out: TextIO) -> int:
        out.writelines(...)
        return 0

It asks for what it needs by the names of its parameters, which are the names in :class:`Call`: a
pure NVML client takes ``nvml``, one that is answered from the world takes ``node`` or ``world``,
one that depends on its caller takes ``cwd``, ``env`` or ``user``. So its signature says how far it
can reach, and it can be called, and tested, as the plain function it is.

Nothing in a look-alike sleeps, or reads the host's clock: a call costs its stated latency on the
run's clock, whatever real time it takes, and waits only through ``pause``.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Any, NoReturn, TextIO, TypeVar

from fakes.commands.index import NAMES
from fakes.hardware.recovery import Refusal, reset_gpu
from fakes.node import Node
from fakes.nvml.codes import Code
from fakes.world import World

_PACKAGE = "fakes.commands"

_REFUSALS = {
    Refusal.IN_USE: Code.IN_USE,
    Refusal.PERSISTENCE: Code.IN_USE,
    Refusal.LOST: Code.GPU_IS_LOST,
}

_FIRST_TO_RESET_ALONE = 9  # NVML_DEVICE_ARCH_HOPPER

NOT_UNDERSTOOD = 125
"""Exit status of a call that asks for something the real command may know and this one does not.
The run takes note of it: what such a script does next proves nothing."""


class Meant(int):
    """An exit status as the real command has it, be it 125."""


def _alone(*_: object) -> NoReturn:
    raise LookupError("this call has no process of its own")


def _no_file(path: str) -> str:
    raise FileNotFoundError(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a command: what its caller's process is like, and what it is answered from.

    ``argv`` is without the program's name, which is ``program``, as it was called. ``nvml`` is
    nvidia-ml-py, or an object with its functions, on the library of ``node``. ``clock`` tells the
    node's Unix time in seconds; ``pause`` lets microseconds of the run's clock pass, and may end
    the call by an exception of its own. ``read_file`` is the text of a file as the caller sees it,
    or raises OSError. ``become`` lets the caller be another program; ``spawn`` runs one beside it,
    at most for so many microseconds, and tells its exit status, None while it runs on (without
    words it waits on); ``signal`` sends that one a signal. ``change_user`` lets the caller be of a
    user's and a group's number from now on, where it may. ``columns`` is the width of the terminal
    that ``out`` goes to, 0 if it is none.
    """

    argv: Sequence[str]
    out: TextIO
    err: TextIO
    node: Node
    world: World
    nvml: Any
    clock: Callable[[], float]
    pause: Callable[[int], None]
    become: Callable[[Sequence[str]], NoReturn] = _alone
    spawn: Callable[[Sequence[str], int | None], int | None] = _alone
    signal: Callable[[int], None] = _alone
    change_user: Callable[[int, int], None] = _alone
    program: str = ""
    stdin: TextIO | None = None
    cwd: str = "/"
    env: Mapping[str, str]
    user: str = "root"
    columns: int = 0
    read_file: Callable[[str], str] = _no_file

    @property
    def gpu_addresses(self) -> tuple[str, ...]:
        """The GPUs' PCI addresses, as the driver lists them in /proc: also of those gone silent."""
        return tuple(f"{gpu.bus_id}.0" for gpu in self.node.gpus)

    @property
    def nics(self) -> tuple[tuple[str, int], ...]:
        """The InfiniBand adapters in the kernel's order: name, and NUMA node."""
        return tuple((each.name, each.numa_node) for each in self.node.network.adapters)

    @property
    def is_privileged(self) -> bool:
        """Whether the caller may do what root may: everybody but those whom jobs belong to.

        Whoever plays the operator may not be root on this machine; on the node they are.
        """
        owners = {job.user for job in self.node.jobs.values()}
        return self.user == "root" or self.user not in owners

    @property
    def resets_alone(self) -> bool:
        """Whether a GPU may be reset without its NVLink peers.

        On baseboards with switches that is so from Hopper on, and on Ampere while the Fabric
        Manager runs (nvidia-smi(1), NVIDIA's Fabric Manager guide).
        """
        if not any(gpu.profile.nvlink.switches for gpu in self.node.gpus):
            return True
        hopper = self.node.gpus[0].profile.architecture >= _FIRST_TO_RESET_ALONE
        return hopper or self.node.services.is_active("nvidia-fabricmanager")

    @property
    def reset_gpu(self) -> Callable[[int], Code]:
        """Resets a GPU by its index, by way of the driver; NVML's code for what came of it."""

        def reset(index: int) -> Code:
            refusal = reset_gpu(self.node, self.node.gpus[index], self.world.now_us).refusal
            return Code.SUCCESS if refusal is None else _REFUSALS[refusal]

        return reset


Latency = int | Callable[[Sequence[str]], int]


@dataclass(frozen=True, slots=True)
class Command:
    """A look-alike: its names, its function, and what that wants to be given."""

    names: tuple[str, ...]
    function: Callable[..., int]
    takes: tuple[str, ...]
    latency: Latency

    def latency_us(self, argv: Sequence[str]) -> int:
        """How long a call with these arguments takes on the run's clock, in microseconds."""
        return self.latency if isinstance(self.latency, int) else self.latency(argv)

    def __call__(self, call: Call) -> int:
        """Run it; its exit status."""
        return self.function(**{name: getattr(call, name) for name in self.takes})


_Function = TypeVar("_Function", bound=Callable[..., int])

_DERIVED = ("gpu_addresses", "is_privileged", "nics", "reset_gpu", "resets_alone")
_OFFERED = tuple(sorted([*(f.name for f in fields(Call)), *_DERIVED]))
_commands: dict[str, Command] = {}


def command(*names: str, latency_us: Latency) -> Callable[[_Function], _Function]:
    """Register a function as the command ``names``, whose calls take ``latency_us``."""

    def register(function: _Function) -> _Function:
        takes = tuple(inspect.signature(function).parameters)
        for name in takes:
            if name not in _OFFERED:
                raise ValueError(_unknown_parameter(function, name))
        found = Command(names, function, takes, latency_us)
        for name in names:
            if known := _commands.get(name):
                raise ValueError(
                    f"the command {name} is written twice: in {known.function.__module__} "
                    f"and in {function.__module__}"
                )
            _commands[name] = found
        return function

    return register


class _Commands(Mapping[str, Command]):
    """Commands by their names, of which those that lie in ``modules`` are still to be imported."""

    def __init__(self, known: Mapping[str, Command], modules: Mapping[str, str]) -> None:
        self._known = dict(known)
        self._modules = modules

    def __getitem__(self, name: str) -> Command:
        found = self._known.get(name)
        if found is None:
            import_module(self._modules[name])
            found = self._known[name] = _commands[name]
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._known or name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter({**self._known, **self._modules})

    def __len__(self) -> int:
        return len({**self._known, **self._modules})


@cache
def commands() -> Mapping[str, Command]:
    """All look-alikes, by name; and what stands for commands that have none (unmodelled.py).

    What the index names is imported when it is asked for, and not before.
    """
    for module in _modules():
        if module not in NAMES:
            import_module(f"{_PACKAGE}.{module}")
    modules = {name: f"{_PACKAGE}.{module}" for module, names in NAMES.items() for name in names}
    known = dict(_commands)
    for name, stand_in in import_module(f"{_PACKAGE}.unmodelled").stand_ins():
        if name not in modules:
            known.setdefault(name, stand_in)
    return _Commands(known, modules)


def names_by_module() -> dict[str, tuple[str, ...]]:
    """The commands of each module of the package, all of which are imported for it."""
    found = {module: import_module(f"{_PACKAGE}.{module}").__name__ for module in _modules()}
    return {
        module: tuple(
            name
            for name, command in _commands.items()
            if f"{command.function.__module__}.".startswith(f"{path}.")
        )
        for module, path in found.items()
    }


def _modules() -> list[str]:
    """What there is in the package: commands, and what several of them share."""
    return sorted(module.name for module in pkgutil.iter_modules(import_module(_PACKAGE).__path__))


def _unknown_parameter(function: Callable[..., int], name: str) -> str:
    close = get_close_matches(name, _OFFERED, 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return (
        f"{function.__module__}.{function.__name__}: no command is given {name!r}{hint} "
        f"Known: {', '.join(_OFFERED)}"
    )
