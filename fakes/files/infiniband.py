"""/sys/class/infiniband and its neighbours: the adapters, their ports, and who may use them.

Documentation/ABI/stable/sysfs-class-infiniband.
"""

from __future__ import annotations

from collections.abc import Iterator

from fakes.files.registry import Content, Files, Folder, node_tree
from fakes.files.unchanged import unless_changed
from fakes.network.infiniband import Adapter
from fakes.node import Node
from fakes.world import World

_PATH = "/sys/class/infiniband"
_MAD_VERSION, _VERBS_VERSION = 5, 6
"""IB_USER_MAD_ABI_VERSION and IB_USER_VERBS_ABI_VERSION of Linux 5.15."""


@node_tree(_PATH)
def adapters(node: Node, world: World) -> Files:
    """A directory for each adapter."""
    at_us = world.now_us
    state = tuple(
        (one.state, one.physical, one.rate_gbps, *(tally.at(at_us) for tally in one.tallies))
        for one in node.network.adapters
    )
    return unless_changed(node, _PATH, state, lambda: _tree(node, at_us))


@node_tree("/sys/class/infiniband_mad")
def management(node: Node, world: World) -> Files:
    """Management datagrams: the version of their interface, and a device file for each port."""
    del world
    return _devices_of(node, "umad", _MAD_VERSION) if "ib_umad" in node.modules else {}


@node_tree("/sys/class/infiniband_verbs")
def verbs(node: Node, world: World) -> Files:
    """Verbs: the version of their interface, and a device file for each adapter."""
    del world
    return _devices_of(node, "uverbs", _VERBS_VERSION) if "ib_uverbs" in node.modules else {}


def _devices_of(node: Node, kind: str, version: int) -> Files:
    files: dict[str, Content] = {"abi_version": f"{version}\n"}
    for number, adapter in enumerate(node.network.adapters):
        files[f"{kind}{number}/ibdev"] = f"{adapter.name}\n"
        if kind == "umad":
            files[f"{kind}{number}/port"] = "1\n"
    return files


def _tree(node: Node, at_us: int) -> Files:
    return {
        f"{one.name}/{name}": content
        for one in node.network.adapters
        for name, content in _files(node, one, at_us)
    }


def _files(node: Node, adapter: Adapter, at_us: int) -> Iterator[tuple[str, Content]]:
    generation = adapter.generation
    yield "board_id", f"{generation.board_id}\n"
    yield "fw_ver", f"{generation.firmware}\n"
    yield "hca_type", f"{generation.hca_type}\n"
    yield "hw_rev", "0\n"
    yield "node_desc", f"{node.name} {adapter.name}\n"
    yield "node_guid", f"{adapter.guid_text}\n"
    yield "node_type", "1: CA\n"
    yield "sys_image_guid", f"{adapter.guid_text}\n"
    yield "device/numa_node", f"{adapter.numa_node}\n"
    yield "device/vendor", "0x15b3\n"
    yield "device/device", f"0x{adapter.device_id:04x}\n"
    yield "device/uevent", f"DRIVER=mlx5_core\nPCI_SLOT_NAME={adapter.pci_address}\n"
    yield f"device/net/{adapter.interface}", Folder()
    for name, content in _port(adapter, at_us):
        yield f"ports/1/{name}", content


def _port(adapter: Adapter, at_us: int) -> Iterator[tuple[str, Content]]:
    number, word = adapter.state.value
    yield "state", f"{number}: {word}\n"
    number, word = adapter.physical.value
    yield "phys_state", f"{number}: {word}\n"
    yield "rate", f"{adapter.rate_text}\n"
    yield "link_layer", "InfiniBand\n"
    yield "lid", f"0x{adapter.lid if adapter.is_active else 0xFFFF:x}\n"
    yield "lid_mask_count", "0\n"
    yield "sm_lid", f"0x{adapter.subnet_manager_lid:x}\n"
    yield "sm_sl", "0\n"
    yield "cap_mask", "0xa651e848\n"
    yield "gids/0", f"{adapter.gid}\n"
    yield "gid_attrs/types/0", "IB/RoCE v1\n"
    yield "gid_attrs/ndevs/0", f"{adapter.interface}\n"
    yield "pkeys/0", "0xffff\n"
    for name, tally in adapter.counters.items():
        yield f"counters/{name}", f"{tally.at(at_us)}\n"
    for name, tally in adapter.hardware_counters.items():
        yield f"hw_counters/{name}", f"{tally.at(at_us)}\n"
