"""The system: versions, counts, and what a node without confidential computing says of it."""

from __future__ import annotations

from struct import Struct

from fakes.node import Node
from fakes.nvml.answer import Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import int32, text, uint32

_CONF_COMPUTE_STATE = Struct("<III")
_CONF_COMPUTE_SETTINGS = {0x1000014: Struct("<5I"), 0x2000018: Struct("<6I")}
_BRANCH = Struct("<I80s")


@answers("nvmlSystemGetDriverVersion")
def driver_version(node: Node, at_us: int) -> Value:
    """The driver's version, as in ``570.124.06``."""
    return text(node.driver.version)


@answers("nvmlSystemGetNVMLVersion")
def nvml_version(node: Node, at_us: int) -> Value:
    """The library's version."""
    return text(node.driver.nvml)


@answers("nvmlSystemGetDriverBranch")
def driver_branch(node: Node, at_us: int, words: tuple[int, ...], length: int) -> Value:
    """The branch that the driver's version belongs to: ``r570_00``."""
    branch = text(f"r{node.driver.version.split('.')[0]}_00")
    if length <= len(branch):
        raise NvmlError(Code.INSUFFICIENT_SIZE)
    return _BRANCH.pack(words[0], branch)


@answers("nvmlSystemGetCudaDriverVersion", "nvmlSystemGetCudaDriverVersion_v2")
def cuda_driver_version(node: Node, at_us: int) -> Value:
    """The highest CUDA version that the driver supports: 1000 x major + 10 x minor."""
    major, minor = node.driver.cuda
    return int32(major * 1000 + minor * 10)


@answers("nvmlSystemGetProcessName")
def process_name(node: Node, at_us: int, pid: int) -> Value:
    """The program of a process that uses a GPU, as it was started."""
    process = node.processes.get(pid)
    if process is None:
        raise NvmlError(Code.NOT_FOUND)
    return text(process.spec.command[0])


@answers("nvmlDeviceGetCount", "nvmlDeviceGetCount_v2")
def device_count(node: Node, at_us: int) -> Value:
    """The GPUs there are. One that is lost is counted still: its look-up is what fails."""
    return uint32(len(node.gpus))


@answers("nvmlUnitGetCount", "nvmlGetExcludedDeviceCount", "nvmlGetBlacklistDeviceCount")
def none_of_them(node: Node, at_us: int) -> Value:
    """S-class units, and GPUs that the driver was told to leave alone: none."""
    return uint32(0)


@answers("nvmlSystemGetHicVersion")
def hic_version(node: Node, at_us: int) -> Value:
    """Host interface cards of S-class units: none."""
    return b""


@answers("nvmlSystemGetConfComputeState")
def conf_compute_state(node: Node, at_us: int) -> Value:
    """Confidential computing: environment, feature and development tools, all off."""
    return _CONF_COMPUTE_STATE.pack(0, 0, 0)


@answers("nvmlSystemGetConfComputeSettings", "nvmlSystemGetConfComputeSettings_v2")
def conf_compute_settings(node: Node, at_us: int, words: tuple[int, ...]) -> Value:
    """Confidential computing's settings, all off."""
    layout = _CONF_COMPUTE_SETTINGS[words[0]]
    return layout.pack(words[0], *([0] * (layout.size // 4 - 1)))
