"""The tests of a diagnostic, by category and level, and what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fakes.commands.dcgmi import checks
from fakes.commands.dcgmi.checks import Check, Trouble
from fakes.hardware.gpu import Gpu
from fakes.node import Node
from fakes.system.dcgm import Status

SECOND_US = 1_000_000
LEVELS = {
    "1": 1, "2": 2, "3": 3, "4": 4, "quick": 1, "short": 1, "medium": 2, "med": 2, "long": 3,
    "xlong": 4, "production_testing": 4, "production": 4,
}  # fmt: skip
DURATION_US = {1: 10 * SECOND_US, 2: 120 * SECOND_US, 3: 1200 * SECOND_US, 4: 3600 * SECOND_US}
"""How long a run takes, in NVIDIA's words: seconds, two minutes, half an hour, one to two hours."""


@dataclass(frozen=True, slots=True)
class Test:
    """One test. ``whole`` ones are told of the node, others of each GPU."""

    __test__ = False  # pytest: this is none of its

    name: str
    category: str
    level: int
    check: Check = checks.nothing
    whole: bool = False
    skipped: bool = False


TESTS = (
    *(
        Test(name, "Deployment", 1, check, whole=True)
        for name, check in (
            ("Denylist", checks.nothing),
            ("NVML Library", checks.library),
            ("CUDA Main Library", checks.nothing),
            ("Permissions and OS Blocks", checks.nothing),
            ("Persistence Mode", checks.persistence),
            ("Environment Variables", checks.nothing),
            ("Page Retirement/Row Remap", checks.pages),
            ("Graphics Processes", checks.nothing),
            ("Inforom", checks.nothing),
        )
    ),
    Test("PCIe", "Integration", 2, checks.pcie),
    Test("GPU Memory", "Hardware", 2, checks.memory),
    Test("Diagnostic", "Hardware", 3, checks.stress),
    Test("Targeted Stress", "Stress", 3, checks.stress),
    Test("Targeted Power", "Stress", 3, checks.stress),
    Test("Memory Bandwidth", "Stress", 3, checks.memory),
    Test("Memtest", "Stress", 4, checks.memory),
    Test("Pulse Test", "Stress", 4, checks.stress),
    Test("EUD Test", "Stress", 3, skipped=True),
)
NAMES = {
    "pcie": "PCIe", "memory": "GPU Memory", "diagnostic": "Diagnostic",
    "targeted_stress": "Targeted Stress", "targeted_power": "Targeted Power",
    "memory_bandwidth": "Memory Bandwidth", "memtest": "Memtest", "pulse_test": "Pulse Test",
    "eud": "EUD Test",
}  # fmt: skip
"""Tests that can be asked for by name."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a test. Without trouble it passed, unless it did not run."""

    test: Test
    troubles: tuple[Trouble, ...] = ()
    ran: bool = True

    @property
    def failed(self) -> tuple[int, ...]:
        """The GPUs that failed."""
        return tuple(sorted({trouble.gpu for trouble in self.troubles if not trouble.skips}))

    @property
    def skipped(self) -> tuple[int, ...]:
        """The GPUs on which it could not run."""
        found = {trouble.gpu for trouble in self.troubles if trouble.skips}
        return tuple(sorted(found.difference(self.failed)))

    def word(self, gpu: int | None = None) -> str:
        """Pass, Fail or Skip: of one GPU, or of all."""
        if not self.ran or gpu in self.skipped:
            return "Skip"
        failed = gpu in self.failed if gpu is not None else bool(self.failed)
        return "Fail" if failed else "Pass"


def chosen(run: str) -> tuple[Test, ...] | None:
    """The tests that ``-r`` asks for: those of a level, or some by name. None: it is neither."""
    if run.lower() in LEVELS:
        level = LEVELS[run.lower()]
        return tuple(test for test in TESTS if test.level <= level)
    names = [NAMES.get(part.strip().lower().replace(" ", "_")) for part in run.split(",")]
    if None in names:
        return None
    return tuple(test for test in TESTS if test.level == 1 or test.name in names)


def duration_us(run: str) -> int:
    """How long a run takes."""
    if run.lower() in LEVELS:
        return DURATION_US[LEVELS[run.lower()]]
    return DURATION_US[2] * (run.count(",") + 1)


def conduct(
    tests: Sequence[Test], node: Node, gpus: Sequence[Gpu], at_us: int, *, fail_early: bool = False
) -> list[Outcome]:
    """Run tests. With ``fail_early`` what comes after the first failure is left out.

    Tests on GPUs are skipped if the deployment has failed, as DCGM does.
    """
    outcomes: list[Outcome] = []
    stopped = False
    for test in tests:
        deployed = not any(outcome.failed for outcome in outcomes if outcome.test.whole)
        if test.skipped or stopped or not (test.whole or deployed):
            outcomes.append(Outcome(test, ran=False))
            continue
        troubles = tuple(trouble for gpu in gpus for trouble in test.check(node, gpu, at_us))
        outcomes.append(Outcome(test, troubles))
        stopped = fail_early and bool(outcomes[-1].failed)
    return outcomes


def status_of(outcomes: Sequence[Outcome]) -> Status:
    """The code with which a run ends."""
    troubles = [each for outcome in outcomes for each in outcome.troubles if not each.skips]
    if any(trouble.isolate for trouble in troubles):
        return Status.NVVS_ISOLATE_ERROR
    return Status.NVVS_ERROR if troubles else Status.OK
