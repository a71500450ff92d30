"""RDMA ports, and whether NCCL may use them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gputui.doctor.check import Result, check, critical, good, skipped, warning
from gputui.doctor.site import Site
from gputui.model import LinkSample

_RDMA = ("infiniband", "roce", "rdma")
_PEER_MODULES = frozenset({"nvidia_peermem", "nv_peer_mem"})


@check("infiniband")
def infiniband(site: Site) -> Iterator[Result]:
    """RDMA ports are active at one speed, and NCCL reaches GPU memory through them."""
    ports = [link for link in site.links() if link.kind in _RDMA]
    wanted = site.environment.get("NCCL_IB_HCA", "")
    if not ports:
        if wanted:
            yield critical(
                f"NCCL_IB_HCA={wanted}, but there is no RDMA device",
                fix="unset NCCL_IB_HCA; ls /sys/class/infiniband",
            )
        else:
            yield skipped("no RDMA device here")
        return
    found = [*_ports(ports), *_wanted(ports, wanted), *_in_the_way(site)]
    yield from found
    if not found:
        speeds = sorted({port.speed_mbps or 0 for port in ports})
        shown = ", ".join(f"{speed // 1000} Gb/s" for speed in speeds)
        yield good(f"{len(ports)} ports active at {shown}")


def _ports(ports: list[LinkSample]) -> Iterator[Result]:
    speeds = Counter(port.speed_mbps for port in ports if port.is_up and port.speed_mbps)
    usual = speeds.most_common(1)[0][0] if speeds else None
    for port in ports:
        device = port.name.partition("/")[0]
        if not port.is_up:
            physical = f", {port.physical_state}" if port.physical_state else ""
            yield critical(
                f"{port.name} is {port.state or 'unknown'}{physical}",
                fix=f"ibstat {device}; look at its cable and at the subnet manager",
            )
        elif usual and port.speed_mbps and port.speed_mbps < usual:
            yield warning(
                f"{port.name} runs at {port.speed_mbps // 1000} Gb/s, others at {usual // 1000}",
                fix=f"mlxlink -d {device}; reseat or exchange its cable",
            )


def _wanted(ports: list[LinkSample], value: str) -> Iterator[Result]:
    """NCCL_IB_HCA: names or their beginnings, ``=`` for whole names, ``^`` for all but these."""
    if not value or value.startswith("^"):
        return
    exact = value.startswith("=")
    devices = {port.name.partition("/")[0] for port in ports}
    for part in value.removeprefix("=").split(","):
        name = part.partition(":")[0]
        if name and not any(one == name if exact else one.startswith(name) for one in devices):
            yield critical(
                f"NCCL_IB_HCA names {name}, but there are {', '.join(sorted(devices))}",
                fix=f"export NCCL_IB_HCA={','.join(sorted(devices))}",
            )


def _in_the_way(site: Site) -> Iterator[Result]:
    if site.environment.get("NCCL_IB_DISABLE", "0") not in ("", "0"):
        yield warning(
            "NCCL_IB_DISABLE is set: NCCL will use TCP although there is RDMA",
            fix="unset NCCL_IB_DISABLE",
        )
    modules = site.modules()
    if "nvidia" in modules and not modules & _PEER_MODULES:
        yield warning(
            "nvidia_peermem is not loaded: without it (or DMA-BUF) data goes by the host's memory",
            fix="modprobe nvidia-peermem",
        )
