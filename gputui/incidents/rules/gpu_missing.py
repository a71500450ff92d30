"""A GPU that should be there, and that NVML has not counted since the start."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents import evidence
from gputui.incidents.advice import ACTION_TEXTS
from gputui.incidents.history import History
from gputui.incidents.init_failure import init_failure
from gputui.incidents.inventory import bus_of
from gputui.incidents.rule import CRITICAL, Finding, Subject, rule, samples
from gputui.model import Action, GpuSample, NodeSample
from gputui.sources.reasons import MISSING

_COMMANDS = {
    Action.POWER_CYCLE: "ipmitool chassis power cycle; then lspci -d 10de:",
    Action.REBOOT_NODE: "dmesg | grep NVRM says why; systemctl reboot",
    Action.CHECK_POWER: "dmesg | grep NVRM; ipmitool sel list",
}


@rule(kind="GpuMissing", severity=CRITICAL, holds=samples(1), clears=samples(1))
def gpu_missing(now: NodeSample, past: History) -> Iterator[Finding]:
    """On the bus but not counted, it is the driver's trouble; not on the bus, it is the bus's.

    What the kernel said of a start that failed tells the driver from firmware and power. Where the
    bus cannot be seen, nobody knows. Of GPUs that only a number expects it is not known which they
    are: they are the node's incident.
    """
    missing = [gpu for gpu in now.gpus if gpu.return_code == MISSING]
    for gpu in missing:
        if gpu.uuid or gpu.bus_id:
            cause, text, action = _blame(gpu, now, past)
            yield Finding(
                Subject.of_gpu(gpu),
                cause=cause,
                cause_text=text,
                action=action,
                action_text=f"{ACTION_TEXTS[action]} ({_COMMANDS[action]})",
                evidence=(_counted(now), *evidence.told(past.events_on(gpu), now.time_s)),
            )
    unknown = sum(not gpu.uuid and not gpu.bus_id for gpu in missing)
    if unknown:
        yield Finding(
            Subject.of_node(now.host),
            cause="unknown",
            cause_text=f"{now.gpu_count} of {len(now.gpus)} GPUs are there",
            action=Action.POWER_CYCLE,
            action_text=f"{ACTION_TEXTS[Action.POWER_CYCLE]} ({_COMMANDS[Action.POWER_CYCLE]})",
            evidence=(_counted(now),),
        )


def _blame(gpu: GpuSample, now: NodeSample, past: History) -> tuple[str, str, Action]:
    bus = bus_of(now)
    failure = init_failure(past.events_on(gpu))
    if failure is not None and (not bus or gpu.bus_id in bus):
        action = Action.CHECK_POWER if failure.cause == "power" else Action.REBOOT_NODE
        return failure.cause, failure.text, action
    if not bus:
        return "unknown", "NVML does not count it", Action.POWER_CYCLE
    if gpu.bus_id not in bus:
        return "bus", "not on the PCI bus", Action.POWER_CYCLE
    if bus[gpu.bus_id].driver is None:
        return "driver", "on the PCI bus, but no driver holds it", Action.REBOOT_NODE
    return "driver", "on the PCI bus, but NVML does not count it", Action.REBOOT_NODE


def _counted(now: NodeSample) -> str:
    return f"NVML counts {now.gpu_count} GPUs"
