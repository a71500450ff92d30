"""Every fault there is, and what gputui makes of it: kind, subject, cause, and how soon."""

from dataclasses import dataclass

import pytest

from chaos.fault import families

AT_ONCE_S = 1.0
THREE_SAMPLES_S = 3.0
NODE, GPU, JOB, NIC = "node", "gpu", "job", "nic"


@dataclass(frozen=True)
class Told:
    """The incident of a fault on GPU 1, or on the node; ``within_s`` after the fault."""

    kind: str
    subject: str
    cause: str
    within_s: float = THREE_SAMPLES_S


OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
    "capacity of 79.11 GiB of which 1.20 GiB is free."
)

FAULTS = {
    ("container", "cgroup"): ({"cgroup": "lost"}, Told("ContainerLostGpu", NODE, "cgroup")),
    ("driver", "mismatch"): (
        {"mismatch": "575.51.03"},
        Told("DriverMismatch", NODE, "versions", AT_ONCE_S),
    ),
    ("driver", "unload"): ({"unload": True}, Told("DriverNotLoaded", NODE, "configuration")),
    ("driver", "version"): ({"version": "575.51.03"}, None),
    ("ecc", "corrected_per_s"): (
        {"corrected_per_s": 200},
        Told("EccStorm", GPU, "dram", AT_ONCE_S),
    ),
    ("ecc", "sram_aggregate"): ({"sram_aggregate": 9}, Told("EccUncorrectable", GPU, "sram")),
    ("ecc", "uncorrectable"): (
        {"uncorrectable": "contained"},
        Told("EccUncorrectable", GPU, "contained", AT_ONCE_S),
    ),
    ("env", "set"): ({"job": "train", "set": "NCCL_DEBUG=INFO"}, None),
    ("env", "unset"): ({"job": "train", "unset": "NCCL_DEBUG"}, None),
    ("fabric", "health"): (
        {"health": "degraded-bandwidth"},
        Told("FabricNotReady", GPU, "link"),
    ),
    ("fabric", "manager"): (
        {"manager": "stopped"},
        Told("FabricNotReady", NODE, "fabric-manager"),
    ),
    ("fabric", "state"): (
        {"state": "not-started"},
        Told("FabricNotReady", GPU, "fabric-manager"),
    ),
    ("fabric", "version"): (
        {"version": "565.57.01"},
        Told("FabricNotReady", NODE, "version-mismatch"),
    ),
    ("file", "content"): ({"path": "/etc/nccl.conf", "content": "NCCL_DEBUG=INFO"}, None),
    ("file", "remove"): ({"path": "/etc/hosts", "remove": True}, None),
    ("file", "replace"): (
        {"path": "/etc/hosts", "replace": "10.0.0.1 n0", "with": "127.0.1.1 n0"},
        None,
    ),
    ("hang", None): ({}, Told("GpuHung", GPU, "driver", 4.0)),
    ("job", "kill"): ({"kill": "train"}, None),
    ("job", "restart"): ({"restart": "train"}, None),
    ("job", "start"): ({"start": "later", "gpus": "n0/1", "memory": "1GiB"}, None),
    ("job", "stop"): ({"stop": "train"}, None),
    ("latency", None): ({"each": "500ms"}, None),
    ("log", None): (
        {"source": "train", "line": OOM},
        Told("GpuOutOfMemory", JOB, "shortage", AT_ONCE_S),
    ),
    ("lost", None): ({}, Told("GpuLost", GPU, "bus", AT_ONCE_S)),
    ("memory", "grow"): ({"grow": "200MiB/s"}, Told("GpuMemoryPressure", GPU, "leak", 30.0)),
    ("memory", "leak"): ({"leak": "4GiB"}, Told("GpuMemoryHeld", GPU, "leak", 12.0)),
    ("memory", "to"): ({"to": "79GiB"}, Told("GpuMemoryPressure", GPU, "shortage")),
    ("memory", "zombie"): ({"zombie": "8GiB"}, Told("GpuMemoryHeld", GPU, "zombie", 12.0)),
    ("network", "cut_off"): ({"cut_off": "n1"}, None),
    ("network", "latency"): ({"latency": "50ms"}, None),
    ("network", "loss"): ({"loss": "5%"}, None),
    ("nic", "down"): ({"nic": "ib1", "down": True}, Told("NicDown", NIC, "link")),
    ("nic", "drops_per_s"): ({"nic": "eth0", "drops_per_s": 500}, None),
    ("nic", "errors_per_s"): (
        {"nic": "ib1", "errors_per_s": 100},
        Told("IbLinkDegraded", NIC, "link", 15.0),
    ),
    ("nic", "flaps"): (
        {"nic": "ib1", "flaps": 3, "every": "10s"},
        Told("IbLinkDegraded", NIC, "link", 30.0),
    ),
    ("nic", "rate_gbps"): ({"nic": "ib1", "rate_gbps": 200}, Told("IbLinkDegraded", NIC, "link")),
    ("nvlink", "down"): ({"down": 5}, Told("NvlinkDown", GPU, "link", AT_ONCE_S)),
    ("nvlink", "errors"): (
        {"errors": "replay", "per_minute": 60},
        Told("NvlinkErrors", GPU, "link", 90.0),
    ),
    ("nvml", "garbage"): (
        {"garbage": "temperature"},
        Told("ThermalSensorFault", GPU, "sensor"),
    ),
    ("nvml", "init"): ({"init": "unknown"}, None),
    ("nvml", "reading"): ({"reading": "power"}, None),
    ("nvswitch", "dead"): ({"dead": 1}, Told("NvlinkDown", NODE, "switch", AT_ONCE_S)),
    ("nvswitch", "sxid"): ({"sxid": 20034}, Told("NvswitchError", NODE, "link", AT_ONCE_S)),
    ("pcie", "aer"): ({"aer": "fatal"}, Told("GpuLost", GPU, "bus", AT_ONCE_S)),
    ("pcie", "generation"): ({"generation": 3}, Told("PcieDegraded", GPU, "link")),
    ("pcie", "replays_per_minute"): (
        {"replays_per_minute": 60},
        Told("PcieErrors", GPU, "link", 20.0),
    ),
    ("pcie", "width"): ({"width": 8}, Told("PcieDegraded", GPU, "link")),
    ("power", "brake"): ({"brake": True}, Told("GpuPowerBrake", GPU, "supply")),
    ("power", "cap"): ({"cap": "250W"}, Told("GpuPowerCapped", GPU, "configuration")),
    ("power", "supply"): ({"supply": "2kW"}, Told("GpuPowerBrake", NODE, "rack")),
    ("process", "alien"): ({"alien": "mallory"}, None),
    ("process", "end"): ({"end": True}, None),
    ("process", "idle"): ({"idle": True}, None),
    ("process", "listens"): ({"listens": 8888}, Told("ServiceExposed", GPU, "no-tls")),
    ("process", "starved"): ({"starved": "40%"}, None),
    ("process", "zombie"): ({"zombie": True}, Told("GpuMemoryHeld", GPU, "zombie", 12.0)),
    ("remap", "banks_none"): ({"banks_none": 2}, Told("RowRemapFailure", GPU, "dram")),
    ("remap", "failed"): ({"failed": 1}, Told("RowRemapFailure", GPU, "dram", AT_ONCE_S)),
    ("remap", "pages"): ({"pages": 65}, Told("RetiredPages", GPU, "dram")),
    ("remap", "pending"): ({"pending": 2}, Told("RowRemapPending", GPU, "dram", AT_ONCE_S)),
    ("node", "down"): ({"down": True}, None),
    ("node", "hung"): ({"hung": True}, Told("GpuHung", NODE, "driver", 4.0)),
    ("node", "reboot"): ({"reboot": True}, None),
    ("service", "broken"): (
        {"broken": "nvidia-fabricmanager"},
        Told("FabricNotReady", NODE, "fabric-manager"),
    ),
    ("service", "fail"): ({"fail": "nvidia-dcgm"}, None),
    ("service", "stop"): (
        {"stop": "nvidia-fabricmanager"},
        Told("FabricNotReady", NODE, "fabric-manager"),
    ),
    ("storage", "full"): ({"full": "/mnt/data"}, Told("StorageStall", JOB, "storage", AT_ONCE_S)),
    ("storage", "readonly"): (
        {"readonly": "/raid"},
        Told("StorageStall", JOB, "storage", AT_ONCE_S),
    ),
    ("storage", "stale"): (
        {"stale": "/mnt/data"},
        Told("StorageStall", JOB, "storage", AT_ONCE_S),
    ),
    ("thermal", "airflow"): ({"airflow": "20%"}, Told("GpuThermalThrottle", GPU, "heat-sink", 40)),
    ("thermal", "coolant_flow"): (
        {"coolant_flow": "20%"},
        Told("GpuThermalThrottle", GPU, "heat-sink", 40),
    ),
    ("thermal", "coolant_temp"): (
        {"coolant_temp": "75C"},
        Told("GpuThermalThrottle", GPU, "heat-sink", 40),
    ),
    ("thermal", "fan"): ({"fan": "0%"}, None),
    ("thermal", "inlet"): ({"inlet": "45C"}, Told("InletOutOfBand", NODE, "room")),
    ("thermal", "sensor"): ({"sensor": "15C"}, Told("ThermalSensorFault", GPU, "sensor")),
    ("xid", "code"): ({"code": 119}, Told("GpuResetRequired", GPU, "driver", AT_ONCE_S)),
}
"""A fault that is None is no incident by itself: work that ends, or what only others can tell."""

_ELSEWHERE = {("thermal", "fan"), ("remap", "pages"), ("network", "cut_off")}
"""Of boards with fans of their own, or that retire pages, and what takes two nodes."""


def test_every_fault_is_here():
    """A new fault has a row that says what becomes of it."""
    there = {(kind.family, kind.by) for kinds in families().values() for kind in kinds}
    assert there == set(FAULTS)


@pytest.mark.parametrize("fault", [one for one in FAULTS if one not in _ELSEWHERE], ids=str)
def test_a_fault_is_told_as_what_it_is_and_soon(watched, fault):
    """One incident that stands alone, of the right kind, subject and cause, in time."""
    family, by = fault
    arguments, told = FAULTS[fault]
    kind = next(kind for kind in families()[family] if kind.by == by)
    names = {argument.name for argument in kind.arguments}
    whom = {"gpu": {"gpu": 1}, "node": {"node": "n0"}}
    for name, chosen in whom.items():
        if name in names:
            arguments = {**chosen, **arguments}
    run = watched(gpus=4).run(30.3)
    run.inject(family, **arguments)
    run.run(100)
    alone = [one for one in run.opened() if one.incident.parent is None]
    if told is None:
        assert alone == []
        return
    (first,) = alone
    subject = first.incident.subject.partition(":")[0]
    assert (first.incident.kind, subject, first.incident.cause) == (
        told.kind,
        told.subject,
        told.cause,
    )
    assert first.took_s <= told.within_s
    if told.subject == GPU:
        assert first.incident.gpu == 1
