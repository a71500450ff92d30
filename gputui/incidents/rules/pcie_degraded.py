"""A PCIe link with fewer lanes, or at a lower generation, than GPU and slot have."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.advice import of_board
from gputui.incidents.history import History
from gputui.incidents.lanes import has_fewer_lanes, severity_of_lanes
from gputui.incidents.load import is_busy, worked_for
from gputui.incidents.rule import (
    WARNING,
    Finding,
    LookAgain,
    Over,
    Subject,
    after,
    rule,
    samples,
)
from gputui.model import Action, GpuSample, NodeSample, Severity

SUSTAINED_S = 30.0
"""An idle link takes seconds to come back to its generation, and the reading is ten seconds old."""


@rule(kind="PcieDegraded", severity=WARNING, holds=samples(3), clears=after(seconds=60))
def pcie_degraded(now: NodeSample, past: History) -> Iterator[Finding | Over | LookAgain]:
    """Fewer lanes than possible under load, for three samples; nobody's lanes change by themselves.

    The generation is another matter: idle links lower it to save power, so that it counts only
    after half a minute of work, and only where another GPU of the same model has a higher one
    (source: the detection rules that NVIDIA's and others' health checks have in common: width under
    load, never the generation at idle). All GPUs of a node alike is how the board was set up.
    Lanes are a warning, a quarter of them or fewer are critical.
    """
    below = [gpu for gpu in now.gpus if _is_below(gpu) and is_busy(gpu)]
    if not below:
        return
    narrow = [gpu for gpu in below if has_fewer_lanes(gpu)]
    with_lanes = [gpu for gpu in now.gpus if gpu.pcie_width and gpu.pcie_width_max]
    if len(narrow) > 1 and len(narrow) == len(with_lanes):
        yield _all_narrow(now, narrow)
        for gpu in narrow:
            yield Over(Subject.of_gpu(gpu))
        return
    for gpu in below:
        if has_fewer_lanes(gpu):
            text = f"x{gpu.pcie_width} of x{gpu.pcie_width_max}"
            yield _finding(gpu, text, severity_of_lanes(gpu))
        elif _is_slow(gpu, now):
            if worked_for(past, gpu, now, SUSTAINED_S):
                text = f"generation {gpu.pcie_generation} of {gpu.pcie_generation_max}"
                yield _finding(gpu, text)
            else:
                yield LookAgain(now.time_s + SUSTAINED_S)


def _is_below(gpu: GpuSample) -> bool:
    """Whether lanes or generation are not the highest: a quick look, for they hardly ever are."""
    return gpu.pcie_width != gpu.pcie_width_max or gpu.pcie_generation != gpu.pcie_generation_max


def _is_slow(gpu: GpuSample, now: NodeSample) -> bool:
    generation = gpu.pcie_generation
    if generation is None or generation >= (gpu.pcie_generation_max or 0):
        return False
    return any(
        (peer.pcie_generation or 0) > generation
        for peer in now.gpus
        if peer.name == gpu.name and is_busy(peer)
    )


def _finding(gpu: GpuSample, text: str, severity: Severity = WARNING) -> Finding:
    return Finding(
        Subject.of_gpu(gpu),
        cause="link",
        cause_text=f"PCIe runs at {text} under load",
        action=Action.CHECK_LINK,
        action_text=f"look at LnkSta (lspci -vv -s {gpu.bus_id or 'ADDRESS'}), then drain and "
        f"reseat the board or its riser{of_board(gpu)}",
        evidence=(_reading(gpu),),
        severity=severity,
        under=("GpuLost",),
    )


def _all_narrow(now: NodeSample, narrow: list[GpuSample]) -> Finding:
    widths = sorted({f"x{gpu.pcie_width} of x{gpu.pcie_width_max}" for gpu in narrow})
    return Finding(
        Subject.of_node(now.host),
        cause="configuration",
        cause_text=f"PCIe of all {len(narrow)} GPUs runs at {', '.join(widths)} under load",
        action=Action.CHECK_CONFIG,
        action_text="check the slots and the BIOS's bifurcation (nvidia-smi topo -m; lspci -tv)",
        evidence=tuple(_reading(gpu) for gpu in narrow[:4]),
        severity=max(map(severity_of_lanes, narrow)),
        others=tuple(Subject.of_gpu(gpu).name for gpu in narrow),
    )


def _reading(gpu: GpuSample) -> str:
    return (
        f"GPU {gpu.index}: generation {gpu.pcie_generation} of {gpu.pcie_generation_max}, "
        f"x{gpu.pcie_width} of x{gpu.pcie_width_max}, {gpu.utilization_percent} % busy"
    )
