"""What somebody does to a node, a GPU or a job: by whatever command, in whatever words.

Whoever gives programs a way to change the world (an NVML setter, a look-alike, a process that was
killed) notes what came of it here. Faults are no actions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum


class Effect(str, Enum):
    """What an action does. Safety is judged by it: ``reboot`` has many spellings."""

    RESET_GPU = "reset_gpu"
    REBOOT = "reboot"
    POWER_CYCLE = "power_cycle"
    POWER_OFF = "power_off"
    POWER_ON = "power_on"
    DRAIN = "drain"
    RESUME = "resume"
    DOWN = "down"
    CORDON = "cordon"
    UNCORDON = "uncordon"
    KILL = "kill"
    REQUEUE = "requeue"
    CANCEL = "cancel"
    SUBMIT = "submit"
    SET_POWER_LIMIT = "set_power_limit"
    SET_CLOCKS = "set_clocks"
    SET_PERSISTENCE = "set_persistence"
    SET_ECC = "set_ecc"
    SET_COMPUTE_MODE = "set_compute_mode"
    SET_MIG = "set_mig"
    CLEAR_COUNTERS = "clear_counters"
    START_SERVICE = "start_service"
    STOP_SERVICE = "stop_service"
    RESTART_SERVICE = "restart_service"
    LOAD_MODULE = "load_module"
    UNLOAD_MODULE = "unload_module"
    EDIT_FILE = "edit_file"
    SET_LINK = "set_link"


@dataclass(frozen=True, slots=True)
class Action:
    """One deed. ``gpu`` is an index on ``node``; ``ok`` is False where it was refused; ``detail``
    says how much, which service, why not.
    """

    at_us: int
    effect: Effect
    node: str | None = None
    gpu: int | None = None
    job: str | None = None
    ok: bool = True
    detail: str = ""


class Actions:
    """Where actions are noted, and who is told of each. ``count`` is how many there were."""

    def __init__(self) -> None:
        self.count = 0
        self._listeners: list[Callable[[Action], None]] = []

    def listen(self, listener: Callable[[Action], None]) -> None:
        """Call ``listener`` with every action from now on."""
        self._listeners.append(listener)

    def note(self, action: Action) -> None:
        """Tell everybody."""
        self.count += 1
        for listener in self._listeners:
            listener(action)
