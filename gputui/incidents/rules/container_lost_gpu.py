"""A container that could use its GPUs, and may no longer."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.rule import CRITICAL, Finding, Over, Subject, rule, samples
from gputui.model import Action, NodeSample
from gputui.sources.device_files import USABLE

_UNKNOWN, _NO_PERMISSION = 999, 4
"""NVML_ERROR_UNKNOWN; NVML_ERROR_NO_PERMISSION."""


def _failed(now: NodeSample, past: History) -> Iterator[Finding | Over]:
    """NVML cannot begin, and its device files cannot be used.

    "Failed to initialize NVML: Unknown Error" in a container that worked is what a reload of
    systemd's units does: it writes the container's device rules anew, without those that the NVIDIA
    runtime had added (source: NVIDIA/nvidia-container-toolkit, "containers losing access to GPUs").
    Where the device files can be used the unknown error is another one.
    """
    subject = Subject.of_node(now.host)
    if now.error_code not in (_UNKNOWN, _NO_PERMISSION) or now.device_files in (None, USABLE):
        yield Over(subject)
        return
    yield Finding(
        subject,
        cause="cgroup" if past.samples else "toolkit",
        cause_text=f"NVML: unknown error, and the device files are {now.device_files}"
        if now.error_code == _UNKNOWN
        else f"NVML: no permission, and the device files are {now.device_files}",
        action=Action.CHECK_CONFIG,
        action_text="restart the container; then keep systemd from taking its devices away "
        "(nvidia-ctk system create-dev-char-symlinks, or docker run --device for each)",
        evidence=(now.error or "NVML: unknown error", f"/dev/nvidiactl is {now.device_files}"),
    )


@rule(
    kind="ContainerLostGpu",
    severity=CRITICAL,
    holds=samples(1),
    clears=samples(1),
    on_failure=_failed,
)
def container_lost_gpu(now: NodeSample, past: History) -> Iterator[Finding]:
    """Whoever gives a sample has its device files."""
    yield from ()
