"""``ibv_devinfo`` and ``ibv_devices``: RDMA devices as libibverbs shows them (rdma-core 39)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.network.infiniband import Adapter
from fakes.node import Node

_FLAGS = {"l": "list", "v": "verbose"}
_VALUES = {"d": "ib-dev", "i": "ib-port"}
_LANES = {"1X": 1, "2X": 16, "4X": 2}
_SPEEDS = {"EDR": ("25.0", 32), "HDR": ("50.0", 64), "NDR": ("100.0", 128)}


@command("ibv_devinfo", latency_us=50_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """``[-d DEVICE] [-i PORT] [-l] [-v]``; 255 where there is no such device."""
    try:
        options, words = parse(argv, _FLAGS, _VALUES)
    except UnknownOptionError as unknown:
        err.write(f"ibv_devinfo: {unknown}\n")
        return NOT_UNDERSTOOD
    if words:
        err.write(f"ibv_devinfo: {words[0]}: this is not known here\n")
        return NOT_UNDERSTOOD
    adapters = node.network.adapters
    if "list" in options:
        found = f"{len(adapters)} HCA{'s' if len(adapters) != 1 else ''} found:"
        out.write("\n".join([found, *(f"\t{one.name}" for one in adapters)]) + "\n\n")
        return 0
    if not adapters:
        err.write("No IB devices found\n")
        return 255
    wanted = options.get("ib-dev")
    if wanted is not None:
        adapters = tuple(one for one in adapters if one.name == wanted)
        if not adapters:
            err.write(f"IB device '{wanted}' wasn't found\n")
            return 255
    for one in adapters:
        out.write("\n".join(_lines(one, verbose="verbose" in options)) + "\n\n")
    return 0


@command("ibv_devices", latency_us=20_000)
def devices(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """All of them, with their GUIDs."""
    if argv:
        err.write(f"ibv_devices: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    out.write("    device          \t   node GUID\n    ------          \t----------------\n")
    out.writelines(f"    {one.name:<16}\t{one.guid}\n" for one in node.network.adapters)
    return 0


def _lines(adapter: Adapter, *, verbose: bool) -> Iterator[str]:
    generation = adapter.generation
    number, word = adapter.state.value
    yield f"hca_id:\t{adapter.name}"
    yield "\ttransport:\t\t\tInfiniBand (0)"
    yield f"\tfw_ver:\t\t\t\t{generation.firmware}"
    yield f"\tnode_guid:\t\t\t{adapter.guid_text}"
    yield f"\tsys_image_guid:\t\t\t{adapter.guid_text}"
    yield "\tvendor_id:\t\t\t0x02c9"
    yield f"\tvendor_part_id:\t\t\t{generation.hca_type.removeprefix('MT')}"
    yield "\thw_ver:\t\t\t\t0x0"
    yield f"\tboard_id:\t\t\t{generation.board_id}"
    yield "\tphys_port_cnt:\t\t\t1"
    if verbose:
        yield "\tmax_mr_size:\t\t\t0xffffffffffffffff"
        yield "\tmax_qp:\t\t\t\t131072"
        yield "\tmax_cq:\t\t\t\t16777216"
    yield "\t\tport:\t1"
    yield f"\t\t\tstate:\t\t\tPORT_{word} ({number})"
    yield "\t\t\tmax_mtu:\t\t4096 (5)"
    yield "\t\t\tactive_mtu:\t\t4096 (5)"
    yield f"\t\t\tsm_lid:\t\t\t{adapter.subnet_manager_lid}"
    yield f"\t\t\tport_lid:\t\t{adapter.lid if adapter.is_active else 0xFFFF}"
    yield "\t\t\tport_lmc:\t\t0x00"
    yield "\t\t\tlink_layer:\t\tInfiniBand"
    if verbose:
        lanes, _, speed = adapter.lanes.partition(" ")
        gbps, code = _SPEEDS[speed]
        number, word = adapter.physical.value
        yield f"\t\t\tactive_width:\t\t{lanes} ({_LANES[lanes]})"
        yield f"\t\t\tactive_speed:\t\t{gbps} Gbps ({code})"
        yield f"\t\t\tphys_state:\t\t{_PHYSICAL.get(word, word.upper())} ({number})"
        yield f"\t\t\tGID[  0]:\t\t{adapter.gid}"


_PHYSICAL = {"LinkUp": "LINK_UP"}
