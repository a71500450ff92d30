"""NVLink: links to the node's switches, and what GPUs can do to each other over them."""

from __future__ import annotations

from fakes.hardware.gpu import Gpu
from fakes.hardware.links import FarEnd, far_end
from fakes.node import Node
from fakes.nvml.answer import Value, answers, gpu_at
from fakes.nvml.answers.pcie import pci_address
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import uint32, uint64

_GPU, _SWITCH = 0, 2
_SLI_BRIDGE, _CAPABILITIES = 4, 6
_ERROR_COUNTERS = 5
_P2P_OK, _P2P_NOT_SUPPORTED = 0, 5
_P2P_NVLINK, _P2P_KINDS = 2, 5
_SAME_SOCKET, _SYSTEM = 40, 50


@answers("nvmlDeviceGetNvLinkState")
def state(gpu: Gpu, at_us: int, link: int) -> Value:
    """Whether a link is up."""
    _check(gpu, link)
    return uint32(gpu.nvlinks[link].up)


@answers("nvmlDeviceGetNvLinkVersion")
def version(gpu: Gpu, at_us: int, link: int) -> Value:
    """nvmlNvlinkVersion_t."""
    _check(gpu, link)
    return uint32(gpu.profile.nvlink.version)


@answers("nvmlDeviceGetNvLinkCapability")
def capability(gpu: Gpu, at_us: int, link: int, which: int) -> Value:
    """Whether a link can do something (nvmlNvLinkCapability_t): all but SLI."""
    _check(gpu, link)
    if which >= _CAPABILITIES:
        raise NvmlError(Code.INVALID_ARGUMENT)
    return uint32(which != _SLI_BRIDGE)


@answers("nvmlDeviceGetNvLinkErrorCounter")
def error_counter(gpu: Gpu, at_us: int, link: int, counter: int) -> Value:
    """Errors of a link (nvmlNvLinkErrorCounter_t): replays, recoveries, CRC of flits, of data, ECC.

    A wrong checksum is one of data here.
    """
    _check(gpu, link)
    if counter >= _ERROR_COUNTERS:
        raise NvmlError(Code.INVALID_ARGUMENT)
    end = gpu.nvlinks[link]
    return uint64((end.replays, end.recoveries, 0, end.crc, 0)[counter])


@answers("nvmlDeviceGetNvLinkRemoteDeviceType", node=True)
def remote_device_type(gpu: Gpu, node: Node, at_us: int, link: int) -> Value:
    """nvmlIntNvLinkDeviceType_t: a switch, or a GPU."""
    return uint32(_GPU if _far_end(node, gpu, link).gpu else _SWITCH)


@answers("nvmlDeviceGetNvLinkRemotePciInfo_v2", node=True)
def remote_pci_info(gpu: Gpu, node: Node, at_us: int, link: int) -> Value:
    """The PCI address of what is at the other end, be the link up or down.

    That the driver still knows it of a link that is down is not verified on hardware.
    """
    end = _far_end(node, gpu, link)
    if end.switch is not None:
        switch_id = gpu.profile.nvlink.switch_pci_device_id
        return pci_address(0, end.switch.pci_bus, switch_id, switch_id)
    peer = end.gpu or gpu
    ids = peer.profile.pci_device_id, peer.profile.pci_subsystem_id
    return pci_address(peer.pci_domain, peer.pci_bus, *ids)


@answers("nvmlDeviceGetNvLinkRemotePciInfo", node=True)
def remote_pci_info_v1(gpu: Gpu, node: Node, at_us: int, link: int) -> Value:
    """The same, in the older form that ends before the long address."""
    return remote_pci_info(gpu, node, at_us, link)[:36]


@answers("nvmlDeviceGetP2PStatus", node=True)
def p2p_status(gpu: Gpu, node: Node, at_us: int, other: int, kind: int) -> Value:
    """What two GPUs can do to each other (nvmlGpuP2PCapsIndex_t). That one is lost fails."""
    if kind >= _P2P_KINDS:
        raise NvmlError(Code.INVALID_ARGUMENT)
    _peer(node, other)
    linked = kind != _P2P_NVLINK or any(link.up for link in gpu.nvlinks)
    return uint32(_P2P_OK if linked else _P2P_NOT_SUPPORTED)


@answers("nvmlDeviceGetTopologyCommonAncestor", node=True)
def common_ancestor(gpu: Gpu, node: Node, at_us: int, other: int) -> Value:
    """How far apart two GPUs are on PCIe (nvmlGpuTopologyLevel_t): four share a socket."""
    peer = _peer(node, other)
    return uint32(_SAME_SOCKET if gpu.index // 4 == peer.index // 4 else _SYSTEM)


def _peer(node: Node, number: int) -> Gpu:
    peer = gpu_at(node, number)
    if peer.lost is not None:
        raise NvmlError(Code.GPU_IS_LOST)
    return peer


def _far_end(node: Node, gpu: Gpu, link: int) -> FarEnd:
    """What is at the other end. A link that leads nowhere is not supported."""
    _check(gpu, link)
    end = far_end(node, gpu, link)
    if end.switch is None and end.gpu is None:
        raise NvmlError(Code.NOT_SUPPORTED)
    return end


def _check(gpu: Gpu, link: int) -> None:
    if not gpu.profile.nvlink.links:
        raise NvmlError(Code.NOT_SUPPORTED)
    if link >= gpu.profile.nvlink.links:
        raise NvmlError(Code.INVALID_ARGUMENT)
