"""GPUs that have not joined their NVLink fabric, or are not well there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gputui.incidents.advice import HELD_BY
from gputui.incidents.history import History
from gputui.incidents.rule import CRITICAL, WARNING, Finding, Subject, rule, samples
from gputui.logs.kernel import KernelEvent
from gputui.model import Action, GpuSample, NodeSample
from gputui.sources.fabric_health import CONFIGURATION, FIRMWARE_DOES_NOT_FIT, HEALTHY

_COMPLETED = "completed"
_COMES_UP_S = 300.0
"""So long after a start, registering may take its time: the fabric manager trains all links first.
"""

VERSIONS = re.compile(
    r"driver interface version (?P<manager>[\d.]+\d) .*version (?P<driver>[\d.]+\d)"
)
"""How the manager tells its version and the driver's."""

_RESTART = "systemctl restart nvidia-fabricmanager; journalctl -u nvidia-fabricmanager"


@rule(kind="FabricNotReady", severity=CRITICAL, holds=samples(3), clears=samples(3))
def fabric_not_ready(now: NodeSample, past: History) -> Iterator[Finding]:
    """CUDA does not start on a GPU that waits for the fabric manager (error 802).

    NVML's state must be completed and its status success, and its health mask without troubles
    (nvml.h). On all GPUs it is the manager that does not run, or is of another version than the
    driver, which it says in its log; a GPU alone is its own configuration.
    """
    host = now.host_readings
    if host is not None and (host.uptime_s or _COMES_UP_S) < _COMES_UP_S:
        return
    in_fabric = [gpu for gpu in now.gpus if gpu.fabric_state is not None]
    waiting = [gpu for gpu in in_fabric if gpu.fabric_state != _COMPLETED]
    if len(waiting) > 1 and len(waiting) == len(in_fabric):
        yield _of_node(now, past, waiting)
    else:
        for gpu in waiting:
            yield _waits(gpu)
    for gpu in in_fabric:
        if gpu not in waiting and gpu.fabric_health not in (None, HEALTHY):
            yield _unwell(gpu, gpu.fabric_health or "")


def _of_node(now: NodeSample, past: History, waiting: Sequence[GpuSample]) -> Finding:
    said = [event for event in past.events("fabric_manager") if _differs(event, now)]
    versions = VERSIONS.search(said[-1].text) if said else None
    names = tuple(Subject.of_gpu(gpu).name for gpu in waiting)
    states = sorted({gpu.fabric_state or "" for gpu in waiting})
    if versions is not None:
        cause = "version-mismatch"
        text = f"fabric manager {versions['manager']}, driver {versions['driver']}"
        advice = install_advice(versions["driver"])
    else:
        cause, text = "fabric-manager", f"all {len(waiting)} GPUs: {', '.join(states)}"
        advice = f"start the fabric manager: {_RESTART}"
    return Finding(
        Subject.of_node(now.host),
        cause=cause,
        cause_text=text,
        action=Action.CHECK_CONFIG,
        action_text=advice,
        evidence=(
            *(event.text for event in said[-1:]),
            f"NVML: fabric state {', '.join(states)} on all {len(waiting)} GPUs",
        ),
        others=names,
        covers=names,
    )


def install_advice(driver: str) -> str:
    """What ends a mismatch with a driver of this version."""
    return f"install the fabric manager of the driver's version ({driver}), then {_RESTART}"


def _differs(event: KernelEvent, now: NodeSample) -> bool:
    """Whether the manager said that it is not of the version which the driver still has."""
    versions = VERSIONS.search(event.text)
    return versions is not None and now.driver in (None, versions["driver"])


def _waits(gpu: GpuSample) -> Finding:
    return Finding(
        Subject.of_gpu(gpu),
        cause="fabric-manager",
        cause_text=f"registration with the fabric: {gpu.fabric_state}",
        action=Action.RESET_GPU,
        action_text=f"stop its processes and {HELD_BY}, reset it (nvidia-smi -r -i {gpu.index}), "
        "look into /var/log/fabricmanager.log",
        evidence=(f"NVML: fabric state {gpu.fabric_state}",),
        under=("GpuLost", "GpuResetRequired"),
    )


def _unwell(gpu: GpuSample, health: str) -> Finding:
    if FIRMWARE_DOES_NOT_FIT in health:
        cause = "version-mismatch"
    elif CONFIGURATION in health:
        cause = "configuration"
    else:
        cause = "link"
    return Finding(
        Subject.of_gpu(gpu),
        cause=cause,
        cause_text=f"fabric: {health}",
        action=Action.CHECK_LINK if cause == "link" else Action.CHECK_CONFIG,
        action_text=f"nvidia-smi -q -i {gpu.index} | grep -A12 Fabric; "
        "look into /var/log/fabricmanager.log, reset the GPU when it is drained",
        evidence=(f"NVML: fabric health: {health}",),
        severity=WARNING,
        under=("GpuLost", "NvlinkDown", "GpuResetRequired"),
    )
