"""Findings about NVLinks in words: what readings and log lines say of them alike."""

from __future__ import annotations

from collections.abc import Sequence

from gputui.incidents.advice import HELD_BY
from gputui.incidents.nvlinks import BrokenLink
from gputui.incidents.rule import ANYBODY, CRITICAL, INFO, WARNING, Cause, Finding, Subject
from gputui.model import Action, GpuSample, NodeSample

UNDER = ("GpuLost", "GpuResetRequired", "FabricNotReady")
"""What takes a GPU's links down with it."""

TOGETHER_S = 60.0
"""The two ends of a link tell of its failure within this time."""

PEER_LOST_S = 10.0
PEER_LOST = Cause("GpuLost", on=ANYBODY, within_s=PEER_LOST_S, anew=True)
"""A GPU that falls off the bus is also the other end of its peers' links."""

SWITCH_FAILED = Cause("NvswitchError", on=ANYBODY, within_s=TOGETHER_S, at_least=WARNING)
"""What a switch tells of the other end of a link; what it merely mentions is no failure."""


def of_node(
    host: str,
    cause: str,
    text: str,
    names: Sequence[str],
    evidence: Sequence[str],
    *,
    works: bool,
    under: Sequence[Cause] = (),
) -> Finding:
    """Links of several GPUs, which share a cause. ``names`` are those of the GPUs, ``under`` what
    else may explain it than a fabric that is not ready.
    """
    return Finding(
        Subject.of_node(host),
        cause=cause,
        cause_text=text,
        action=Action.CHECK_LINK,
        action_text=f"drain, stop {HELD_BY}; restart the fabric manager, then reset all GPUs "
        "(systemctl restart nvidia-fabricmanager; nvidia-smi -r); if it stays so, the baseboard",
        evidence=tuple(evidence),
        severity=CRITICAL if works else INFO,
        under=("FabricNotReady", *under),
        others=tuple(names),
        covers=tuple(names),
    )


def with_their_peers(broken: Sequence[BrokenLink], now: NodeSample) -> list[Cause]:
    """The losses of the GPUs at both ends of broken links: what takes these down."""
    indices = {end for one in broken for end in (one.gpu.index, one.peer)}
    names = (Subject.of_gpu(gpu).name for gpu in now.gpus if gpu.index in indices)
    return [Cause("GpuLost", on=name) for name in names]


def ends(broken: Sequence[BrokenLink], now: NodeSample | None) -> tuple[str, ...]:
    """Whom broken links concern as well: the GPU at the other end, or the node of the switch."""
    if now is None:
        return ()
    names = []
    for one in broken:
        if isinstance(one.peer, int):
            names += [Subject.of_gpu(gpu).name for gpu in now.gpus if gpu.index == one.peer]
            names.append(Subject.of_gpu(one.gpu).name)
        elif one.peer is not None:
            names.append(Subject.of_node(now.host).name)
    return tuple(dict.fromkeys(names))


def advice(gpu: GpuSample | None, *, blames_peer: bool = False) -> str:
    """What to do about a link of a GPU."""
    if blames_peer:
        return "look at the other end of the link first (nvidia-smi nvlink -s), then reset both"
    index = "" if gpu is None else f" -i {gpu.index}"
    return (
        f"drain, stop what holds them ({HELD_BY}), reset the GPUs at both ends; if it stays "
        f"down (nvidia-smi nvlink -s{index}), its bridge or baseboard"
    )
