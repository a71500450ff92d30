"""NVLink: links to the node's switches, and what GPUs can do to each other over them."""

from __future__ import annotations

from fakes.gpu import Gpu
from fakes.node import Node
from fakes.nvml.answer import Value, answers, gpu_at
from fakes.nvml.answers.pcie import pci_address
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import uint32, uint64

_ACTIVE = 1
_SWITCH = 2
_FIRST_SWITCH_BUS = 0x05
_SLI_BRIDGE, _CAPABILITIES = 4, 6
_ERROR_COUNTERS = 5
_P2P_OK, _P2P_NOT_SUPPORTED = 0, 5
_P2P_NVLINK, _P2P_KINDS = 2, 5
_SAME_SOCKET, _SYSTEM = 40, 50


@answers("nvmlDeviceGetNvLinkState")
def state(gpu: Gpu, at_us: int, link: int) -> Value:
    """Whether a link is up."""
    _check(gpu, link)
    return uint32(_ACTIVE)


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
    """Replays, recoveries and CRC errors of a link (nvmlNvLinkErrorCounter_t): none."""
    _check(gpu, link)
    if counter >= _ERROR_COUNTERS:
        raise NvmlError(Code.INVALID_ARGUMENT)
    return uint64(0)


@answers("nvmlDeviceGetNvLinkRemoteDeviceType")
def remote_device_type(gpu: Gpu, at_us: int, link: int) -> Value:
    """nvmlIntNvLinkDeviceType_t: a switch."""
    _check(gpu, link)
    return uint32(_SWITCH)


@answers("nvmlDeviceGetNvLinkRemotePciInfo_v2")
def remote_pci_info(gpu: Gpu, at_us: int, link: int) -> Value:
    """The PCI address of the switch at the other end."""
    _check(gpu, link)
    nvlink = gpu.profile.nvlink
    bus = _FIRST_SWITCH_BUS + link % nvlink.switches
    return pci_address(0, bus, nvlink.switch_pci_device_id, nvlink.switch_pci_device_id)


@answers("nvmlDeviceGetNvLinkRemotePciInfo")
def remote_pci_info_v1(gpu: Gpu, at_us: int, link: int) -> Value:
    """The same, in the older form that ends before the long address."""
    return remote_pci_info(gpu, at_us, link)[:36]


@answers("nvmlDeviceGetP2PStatus", node=True)
def p2p_status(gpu: Gpu, node: Node, at_us: int, other: int, kind: int) -> Value:
    """What two GPUs can do to each other (nvmlGpuP2PCapsIndex_t). That one is lost fails."""
    if kind >= _P2P_KINDS:
        raise NvmlError(Code.INVALID_ARGUMENT)
    _peer(node, other)
    linked = kind != _P2P_NVLINK or gpu.profile.nvlink.links > 0
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


def _check(gpu: Gpu, link: int) -> None:
    if not gpu.profile.nvlink.links:
        raise NvmlError(Code.NOT_SUPPORTED)
    if link >= gpu.profile.nvlink.links:
        raise NvmlError(Code.INVALID_ARGUMENT)
