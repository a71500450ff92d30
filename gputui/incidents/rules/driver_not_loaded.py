"""No driver answers: it is not loaded, or its library is not here."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.rule import CRITICAL, Finding, Over, Subject, rule, samples
from gputui.model import Action, NodeSample

_NOT_LOADED, _NO_LIBRARY = 9, 12
"""NVML_ERROR_DRIVER_NOT_LOADED; NVML_ERROR_LIBRARY_NOT_FOUND."""


def _failed(now: NodeSample, past: History) -> Iterator[Finding | Over]:
    """NVML says so. Without GPUs on the bus a missing library is no fault: this node has none."""
    subject = Subject.of_node(now.host)
    if now.error_code == _NOT_LOADED:
        yield _finding(now, subject)
    elif now.error_code == _NO_LIBRARY and (now.on_bus or past.samples):
        yield _without_library(now, subject)
    else:
        yield Over(subject)


@rule(
    kind="DriverNotLoaded",
    severity=CRITICAL,
    holds=samples(1),
    clears=samples(1),
    on_failure=_failed,
)
def driver_not_loaded(now: NodeSample, past: History) -> Iterator[Finding]:
    """Whoever gives a sample has a driver."""
    yield from ()


def _finding(now: NodeSample, subject: Subject) -> Finding:
    refused = [gpu for gpu in now.on_bus or () if gpu.driver not in (None, "nvidia")]
    others = sorted({gpu.driver or "" for gpu in refused})
    taken = f"; {', '.join(others)} holds the GPUs" if others else ""
    return Finding(
        subject,
        cause="configuration",
        cause_text=f"the NVIDIA driver is not loaded{taken}",
        action=Action.RELOAD_DRIVER,
        action_text="load it (modprobe nvidia), and look for the reason if that fails "
        "(dmesg | grep -e NVRM -e nvidia)",
        evidence=(now.error or "NVML: driver not loaded",),
    )


def _without_library(now: NodeSample, subject: Subject) -> Finding:
    return Finding(
        subject,
        cause="toolkit",
        cause_text="NVML's library is not here, though GPUs are",
        action=Action.CHECK_CONFIG,
        action_text="install the driver's libraries, or start the container with its GPUs "
        "(docker run --gpus all; nvidia-ctk runtime configure)",
        evidence=(now.error or "NVML: library not found",),
    )
