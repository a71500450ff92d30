"""The systemd units of a GPU server: names, descriptions, daemons, and who has them.

Descriptions, users and commands are those of the packages' own unit files (Ubuntu 22.04, NVIDIA's
driver 570 and DCGM 4, Slurm's and MLNX_OFED's).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Wants(Enum):
    """What a node must have for a unit to be on it."""

    NOTHING = "nothing"
    GPUS = "gpus"
    SWITCHES = "switches"
    SLURM = "slurm"
    KUBERNETES = "kubernetes"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit file.

    ``command`` is what its main process is run as, () if it has none and stays active without.
    ``restarts`` says that systemd starts it again when it fails; ``enabled`` is the word of
    ``systemctl is-enabled`` at first. A unit that is not ``at_boot`` waits to be started.
    """

    name: str
    description: str
    command: tuple[str, ...] = ()
    user: str = "root"
    wants: Wants = Wants.NOTHING
    aliases: tuple[str, ...] = ()
    restarts: bool = False
    enabled: str = "enabled"
    at_boot: bool = True
    after: tuple[str, ...] = ()
    started: str = ""
    version: str = ""

    @property
    def program(self) -> str:
        """The name of its main process."""
        return self.command[0].rsplit("/", 1)[-1] if self.command else ""

    @property
    def file(self) -> str:
        """Where its unit file lies."""
        return f"/lib/systemd/system/{self.name}"


UNITS = (
    Unit(
        "nvidia-persistenced.service",
        "NVIDIA Persistence Daemon",
        ("/usr/bin/nvidia-persistenced", "--user", "nvidia-persistenced", "--verbose"),
        wants=Wants.GPUS,
    ),
    Unit(
        "nvidia-fabricmanager.service",
        "NVIDIA fabric manager service",
        ("/usr/bin/nv-fabricmanager", "-c", "/usr/share/nvidia/nvswitch/fabricmanager.cfg"),
        wants=Wants.SWITCHES,
        started="Successfully configured all the available NVSwitches to route GPU NVLink traffic. "
        "NVLink Peer-to-Peer support will be enabled once the GPUs are successfully registered "
        "with the NVLink fabric.",
    ),
    Unit(
        "nvidia-imex.service",
        "NVIDIA IMEX service",
        ("/usr/bin/nvidia-imex", "-c", "/etc/nvidia-imex/config.cfg"),
        wants=Wants.SWITCHES,
        enabled="disabled",
        at_boot=False,
    ),
    Unit(
        "nvidia-dcgm.service",
        "NVIDIA DCGM service",
        ("/usr/bin/nv-hostengine", "-n", "--service-account", "nvidia-dcgm"),
        wants=Wants.GPUS,
        aliases=("dcgm.service",),
        version="3.3.8",
        started="Started host engine version 3.3.8 using port number: 5555",
    ),
    Unit(
        "dcgm-exporter.service",
        "DCGM Exporter",
        ("/usr/bin/dcgm-exporter", "-f", "/etc/dcgm-exporter/default-counters.csv"),
        wants=Wants.GPUS,
        restarts=True,
        after=("nvidia-dcgm.service",),
    ),
    Unit(
        "nvidia-cdi-refresh.service",
        "Refresh NVIDIA CDI specification file",
        wants=Wants.GPUS,
        enabled="enabled",
        at_boot=False,
    ),
    Unit(
        "slurmd.service",
        "Slurm node daemon",
        ("/usr/sbin/slurmd", "-D", "-s"),
        wants=Wants.SLURM,
        after=("munge.service",),
        version="24.05.4",
        started="slurmd started",
    ),
    Unit(
        "munge.service",
        "MUNGE authentication service",
        ("/usr/sbin/munged",),
        user="munge",
        wants=Wants.SLURM,
        aliases=("munged.service",),
    ),
    Unit(
        "kubelet.service",
        "kubelet: The Kubernetes Node Agent",
        ("/usr/bin/kubelet", "--config=/var/lib/kubelet/config.yaml"),
        wants=Wants.KUBERNETES,
        restarts=True,
        after=("containerd.service",),
    ),
    Unit(
        "containerd.service",
        "containerd container runtime",
        ("/usr/bin/containerd",),
        restarts=True,
        started="containerd successfully booted in 0.035s",
    ),
    Unit(
        "docker.service",
        "Docker Application Container Engine",
        ("/usr/bin/dockerd", "-H", "fd://", "--containerd=/run/containerd/containerd.sock"),
        restarts=True,
        after=("containerd.service",),
    ),
    Unit(
        "ssh.service",
        "OpenBSD Secure Shell server",
        ("/usr/sbin/sshd", "-D"),
        aliases=("sshd.service",),
    ),
    Unit(
        "chrony.service",
        "chrony, an NTP client/server",
        ("/usr/sbin/chronyd", "-F", "1"),
        user="_chrony",
        aliases=("chronyd.service",),
    ),
    Unit(
        "cron.service",
        "Regular background program processing daemon",
        ("/usr/sbin/cron", "-f", "-P"),
        aliases=("crond.service",),
    ),
    Unit(
        "rsyslog.service",
        "System Logging Service",
        ("/usr/sbin/rsyslogd", "-n", "-iNONE"),
        user="syslog",
        aliases=("syslog.service",),
    ),
    Unit(
        "dbus.service",
        "D-Bus System Message Bus",
        ("/usr/bin/dbus-daemon", "--system", "--nofork", "--nopidfile"),
        user="messagebus",
        enabled="static",
    ),
    Unit(
        "systemd-journald.service",
        "Journal Service",
        ("/lib/systemd/systemd-journald",),
        enabled="static",
    ),
    Unit(
        "systemd-udevd.service",
        "Rule-based Manager for Device Events and Files",
        ("/lib/systemd/systemd-udevd",),
        enabled="static",
    ),
    Unit(
        "systemd-logind.service",
        "User Login Management",
        ("/lib/systemd/systemd-logind",),
        enabled="static",
    ),
    Unit("openibd.service", "openibd - configure Mellanox devices"),
    Unit("multi-user.target", "Multi-User System", aliases=("default.target",), enabled="static"),
    Unit("network-online.target", "Network is Online", enabled="static"),
    Unit("nvidia-peermem.service", "Load the nvidia-peermem module", wants=Wants.GPUS),
)
BY_NAME = {name: unit for unit in UNITS for name in (unit.name, *unit.aliases)}


def full_name(name: str) -> str:
    """A unit's full name: ``slurmd`` is slurmd.service."""
    kinds = (".service", ".socket", ".target", ".timer", ".mount", ".path", ".slice", ".device")
    return name if name.endswith(kinds) else f"{name}.service"
