"""What DCGM finds wrong with a GPU, from the world: one function a test of its diagnostic.

Which test looks at what, and its words, follow DCGM's documentation and its dcgm_errors.h
(DCGM_FR_*). How DCGM names a lost GPU among the tests is not verified on hardware.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from fakes.hardware.gpu import Gpu
from fakes.hardware.thermal import Limit, plan
from fakes.node import Node

_MEMORY_SHARE = 0.75
_VIOLATION_S = 12.0
_FULL_LOAD = 1.0
_HEAT = (Limit.HEAT, Limit.HARDWARE_HEAT)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something wrong with a GPU. ``isolate`` says that it must be taken out of use.

    ``skips`` says that the test could not run for it: the GPU has not failed.
    """

    gpu: int
    text: str
    error_id: int
    isolate: bool = False
    skips: bool = False


Check = Callable[[Node, Gpu, int], Iterator[Trouble]]


def library(node: Node, gpu: Gpu, at_us: int) -> Iterator[Trouble]:
    """Whether NVML answers."""
    del node, at_us
    if gpu.lost:
        yield Trouble(
            gpu.index,
            f"GPU {gpu.index} is lost: it is not accessible through NVML. Reboot the system, "
            "and run a field diagnostic on the GPU.",
            95, isolate=True,
        )  # fmt: skip
    elif gpu.reset_required:
        yield Trouble(
            gpu.index,
            f"GPU {gpu.index} requires a reset. Drain the GPU of all processes and reset it.",
            96,
        )


def persistence(node: Node, gpu: Gpu, at_us: int) -> Iterator[Trouble]:
    """Whether the driver stays loaded."""
    del node, at_us
    if not gpu.persistence and not gpu.lost:
        yield Trouble(
            gpu.index,
            f"Persistence mode for GPU {gpu.index} is currently disabled. The DCGM diagnostic "
            f"requires persistence mode to be enabled. Enable persistence mode by running "
            f'"nvidia-smi -i {gpu.index} -pm 1" as root.',
            31,
        )


def pages(node: Node, gpu: Gpu, at_us: int) -> Iterator[Trouble]:
    """Rows to be remapped, and pages to be retired."""
    del node, at_us
    number = gpu.index
    if gpu.remapped_rows.failed:
        yield Trouble(
            number,
            f"GPU {number} had uncorrectable memory errors and row remapping failed. Run a field "
            "diagnostic on the GPU.",
            84, isolate=True,
        )  # fmt: skip
    if gpu.remapped_rows.pending:
        yield Trouble(
            number,
            f"GPU {number} had uncorrectable memory errors and row remapping is pending. Drain "
            "the GPU of all processes and reset it.",
            83,
        )
    if gpu.retired_pages.pending:
        yield Trouble(
            number,
            f"A pending retired page has been detected in GPU {number}. If volatile double bit "
            "ECC errors exist, drain the GPU and reset it or reboot the node to resolve this.",
            23,
        )
    if gpu.retired_pages.count >= 60:
        yield Trouble(
            number, f"A total of {gpu.retired_pages.count} pages have been retired in GPU {number},"
            " which exceeds the limit. Run a field diagnostic on the GPU.", 24, isolate=True,
        )  # fmt: skip


def pcie(node: Node, gpu: Gpu, at_us: int) -> Iterator[Trouble]:
    """The link to the host, and NVLinks."""
    number, wanted = gpu.index, gpu.profile.pcie
    if gpu.lost:
        return
    if gpu.pcie_width < wanted.width:
        yield Trouble(
            number,
            f"GPU {number} is running at PCI link width {gpu.pcie_width}X, which is below the "
            f"minimum allowed link width of {wanted.width} (parameter: min_pci_width)",
            8,
        )
    generation = gpu.pcie.generation_of(wanted, idle=False)
    if generation < wanted.generation:
        yield Trouble(
            number,
            f"GPU {number} is running at PCI link generation {generation}, which is below the "
            f"minimum allowed link generation of {wanted.generation} (parameter: "
            "min_pci_generation)",
            7,
        )
    for link, end in enumerate(gpu.nvlinks):
        if not end.up:
            yield Trouble(
                number,
                f"GPU {number}'s NvLink link {link} is currently down. Run a field diagnostic on "
                "the GPU.",
                13,
            )
        for kind, count in (("replay", end.replays), ("recovery", end.recoveries)):
            if count:
                yield Trouble(
                    number,
                    f"Detected {count} {kind} NvLink errors for GPU {number}'s NVLink {link} "
                    "which exceeds threshold of 0",
                    12,
                )
    yield from _fabric(node, gpu)


def _fabric(node: Node, gpu: Gpu) -> Iterator[Trouble]:
    del node
    if gpu.profile.can.fabric and gpu.fabric.state.value != "completed":
        yield Trouble(
            gpu.index,
            "Unable to initialize CUDA library: 'system not yet initialized'. Check the state of "
            f"the Fabric Manager for GPU {gpu.index}.",
            36,
        )


def memory(node: Node, gpu: Gpu, at_us: int) -> Iterator[Trouble]:
    """Errors of the frame buffer. Without room for its patterns the test does not run."""
    if gpu.lost:
        return
    if count := gpu.memory_errors.all_volatile_uncorrected:
        yield Trouble(
            gpu.index,
            f"Detected {count} volatile double-bit ECC error(s) in GPU {gpu.index}. Drain the GPU "
            "and reset it or reboot the node.",
            4, isolate=True,
        )  # fmt: skip
    yield from (replace(trouble, skips=True) for trouble in _fits(node, gpu, at_us))


def _fits(node: Node, gpu: Gpu, at_us: int) -> Iterator[Trouble]:
    """A test takes most of the memory: on a GPU in use it cannot have it."""
    del node
    free = 1 - gpu.memory_used_bytes(at_us) / gpu.capacity_bytes
    if free < _MEMORY_SHARE:
        yield Trouble(
            gpu.index,
            f"Couldn't allocate at least {_MEMORY_SHARE * 100:.1f}% of GPU memory on GPU "
            f"{gpu.index}",
            40,
        )


def stress(node: Node, gpu: Gpu, at_us: int) -> Iterator[Trouble]:
    """Full load for minutes: heat and brakes show then."""
    if gpu.lost:
        return
    yield from _fits(node, gpu, at_us)
    full = replace(gpu.conditions, load=_FULL_LOAD)
    regimes = plan(gpu.profile, full, at_us, gpu.true_temperature_c(at_us)).regimes
    if any(regime.limit in _HEAT for regime in regimes):
        yield Trouble(
            gpu.index,
            f"There were thermal violations totaling {_VIOLATION_S:.1f} seconds for GPU "
            f"{gpu.index}. Verify that the cooling on this machine is functional, including "
            "external, thermal material interface, fans, and any other components.",
            11,
        )
    if any(regime.limit is Limit.BRAKE for regime in regimes):
        yield Trouble(
            gpu.index,
            f"Clocks are being throttled for GPU {gpu.index} because of clock throttling reason "
            "hw_power_brake. Check the power supply.",
            10,
        )


def nothing(node: Node, gpu: Gpu, at_us: int) -> Iterator[Trouble]:
    """What cannot fail here."""
    del node, gpu, at_us
    return iter(())
