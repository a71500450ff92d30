"""Sub-commands, one a file: what is printed about links, topology, instances, and so on."""

from __future__ import annotations

from collections.abc import Mapping

from fakes.commands.nvidia_smi.session import SubCommand
from fakes.commands.nvidia_smi.subcommands import (
    clocks,
    conf_compute,
    dmon,
    drain,
    mig,
    nvlink,
    pmon,
    topo,
    vgpu,
)

SUBCOMMANDS: Mapping[str, SubCommand] = {
    "clocks": clocks.run,
    "conf-compute": conf_compute.run,
    "dmon": dmon.run,
    "drain": drain.run,
    "mig": mig.run,
    "nvlink": nvlink.run,
    "pmon": pmon.run,
    "topo": topo.run,
    "vgpu": vgpu.run,
}
"""By name."""
