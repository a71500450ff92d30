"""``topo``: how far GPUs and network adapters are from each other, and what GPUs can do together.

The first line of the matrix is underlined by escape codes, terminal or not (captures).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fakes.commands.nvidia_smi.options import NotImitated, Usage
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.session import Session, given

_FLAGS = {
    "-m": "matrix", "--matrix": "matrix", "-mp": "matrix_pci", "--matrix_pci": "matrix_pci",
    "-h": "help", "--help": "help",
}  # fmt: skip
_VALUES = {
    "-p2p": "p2pstatus", "--p2pstatus": "p2pstatus", "-i": "id", "--id": "id",
    "-c": "cpu", "--cpu": "cpu", "-n": "nearest_gpus", "--nearest_gpus": "nearest_gpus",
    "-p": "path", "--path": "path", "-C": "gpu_numa", "-M": "gpu_memory",
}  # fmt: skip
_HELP = """\
nvidia-smi topo [-m | -mp | -p2p r|w|n|a|p] [-i ID]

    -m,   --matrix      how GPUs and network adapters are joined, and their processors
    -mp,  --matrix_pci  the same by PCI alone
    -p2p, --p2pstatus   what GPUs can do together: r read, w write, n NVLink, a atomics, p PCI
"""
_LEGEND = """\

Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
"""  # noqa: E501
_NVLINK_LEGEND = "  NV#  = Connection traversing a bonded set of # NVLinks\n"
_P2P_LEGEND = """\

Legend:

  X    = Self
  OK   = Status Ok
  CNS  = Chipset not supported
  GNS  = GPU not supported
  TNS  = Topology not supported
  NS   = Not supported
  U    = Unknown
"""
_LEVELS = {0: "PIX", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
_P2P_WORDS = ("OK", "CNS", "GNS", "TNS", "NS", "NS", "U")
_P2P_KINDS = {"r": 0, "w": 1, "n": 2, "a": 3, "p": 4}
_LINKS, _STATE, _SWITCH, _UP = 91, 165, 2, 1
_CPU_WORDS = 64


def run(argv: Sequence[str], session: Session) -> int:
    """Print a matrix."""
    options = given("topo", argv, _FLAGS, _VALUES)
    if not options or "help" in options:
        session.out.write(_HELP)
        return 0
    gpus = session.gpus(options.get("id", ""))
    if "p2pstatus" in options:
        _print_p2p(options["p2pstatus"], gpus, session)
    elif "matrix" in options:
        _print_matrix(gpus, session, nvlink=True)
    elif "matrix_pci" in options:
        _print_matrix(gpus, session, nvlink=False)
    else:
        raise NotImitated("topo " + " ".join(argv))
    return 0


def _print_matrix(gpus: Sequence[Gpu], session: Session, *, nvlink: bool) -> None:
    out, nics = session.out, session.nics
    names = [f"GPU{gpu.index}" for gpu in gpus]
    adapters = [f"NIC{number}" for number in range(len(nics))]
    heading = [*names, *adapters, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"]
    out.write("\t\x1b[4m" + "\t".join(heading) + "\x1b[0m\n")
    nodes = {gpu: _numa_node(gpu) for gpu in gpus}
    links = {gpu: _links(gpu) if nvlink else _NO_LINKS for gpu in gpus}
    for gpu, name in zip(gpus, names, strict=True):
        cells = [_between(gpu, other, links) for other in gpus]
        cells += [_to_nic(nodes[gpu], gpu.index, nic.numa_node, at) for at, nic in enumerate(nics)]
        cpus = _cpu_list(gpu)
        out.write("\t".join([name, *cells, cpus, nodes[gpu], "\tN/A"]) + "\n")
    for at, (nic, name) in enumerate(zip(nics, adapters, strict=True)):
        cells = [_to_nic(nodes[gpu], gpu.index, nic.numa_node, at) for gpu in gpus]
        cells += [
            " X " if other is nic else "NODE" if other.numa_node == nic.numa_node else "SYS"
            for other in nics
        ]
        out.write("\t".join([name, *cells, "\t\t\n"]))
    out.write(_LEGEND)
    if nvlink:
        out.write(_NVLINK_LEGEND)
    if nics:
        out.write("\nNIC Legend:\n\n")
        out.writelines(f"  NIC{at}: {nic.name}\n" for at, nic in enumerate(nics))
    out.write("\n")


def _between(gpu: Gpu, other: Gpu, links: Mapping[Gpu, _Links]) -> str:
    if gpu is other:
        return " X "
    joined = links[gpu].direct.count(other.bus_id)
    joined = joined or min(links[gpu].through, links[other].through)
    if joined:
        return f"NV{joined}"
    level = gpu.ask("nvmlDeviceGetTopologyCommonAncestor", other.handle)
    return "N/A" if isinstance(level, Missing) else _LEVELS.get(level, "SYS")


@dataclass(frozen=True, slots=True)
class _Links:
    """How many of a GPU's links lead to switches, and the addresses of GPUs that others lead to."""

    through: int = 0
    direct: tuple[str, ...] = ()


_NO_LINKS = _Links()


def _links(gpu: Gpu) -> _Links:
    through, direct = 0, []
    try:
        count = int(gpu.field(_LINKS))
    except Missing:
        return _NO_LINKS
    gpu.read_fields([(_STATE, link) for link in range(count)])
    for link in range(count):
        if gpu.field(_STATE, link) != _UP:
            continue
        if gpu.ask("nvmlDeviceGetNvLinkRemoteDeviceType", link) == _SWITCH:
            through += 1
            continue
        far = gpu.ask("nvmlDeviceGetNvLinkRemotePciInfo", link)
        if not isinstance(far, Missing):
            direct.append(far.busId.decode() if isinstance(far.busId, bytes) else str(far.busId))
    return _Links(through, tuple(direct))


def _to_nic(node: str, gpu: int, nic_node: int, nic: int) -> str:
    """A GPU and an adapter of its number share a bridge, others of its socket a root complex."""
    if node != str(nic_node):
        return "SYS"
    return "PXB" if gpu == nic else "NODE"


def _numa_node(gpu: Gpu) -> str:
    try:
        mask = gpu.get("nvmlDeviceGetMemoryAffinity", 1, 0)[0]
    except Missing:
        return "N/A"
    return ",".join(_ranges([int(mask)]))


def _cpu_list(gpu: Gpu) -> str:
    try:
        words = gpu.get("nvmlDeviceGetCpuAffinity", _CPU_WORDS)
    except Missing:
        return "N/A"
    return ",".join(_ranges([int(word) for word in words]))


def _ranges(words: Sequence[int]) -> list[str]:
    """The bits that are set, as ``0-55`` and ``112``."""
    bits = sum(word << 64 * at for at, word in enumerate(words))
    found: list[str] = []
    at = 0
    while bits >> at:
        start = at + ((bits >> at) & -(bits >> at)).bit_length() - 1
        end = start
        while bits >> (end + 1) & 1:
            end += 1
        found.append(str(start) if start == end else f"{start}-{end}")
        at = end + 1
    return found


def _print_p2p(kinds: str, gpus: Sequence[Gpu], session: Session) -> None:
    numbers = [_P2P_KINDS.get(letter, -1) for letter in kinds]
    if not numbers or -1 in numbers:
        raise Usage(f"\"{kinds}\" is not a p2p capability. Please run 'nvidia-smi topo -h'.")
    out = session.out
    names = [f"GPU{gpu.index}" for gpu in gpus]
    out.write(" \t" + "\t".join(names) + "\t\n")
    for gpu, name in zip(gpus, names, strict=True):
        cells = ["X" if gpu is other else _p2p(gpu, other, numbers) for other in gpus]
        out.write(f" {name}\t" + "\t".join(cells) + "\t\n")
    out.write(_P2P_LEGEND)


def _p2p(gpu: Gpu, other: Gpu, kinds: Sequence[int]) -> str:
    worst = 0
    for kind in kinds:
        status = gpu.ask("nvmlDeviceGetP2PStatus", other.handle, kind)
        if isinstance(status, Missing):
            return "U"
        worst = worst or status
    return _P2P_WORDS[min(worst, len(_P2P_WORDS) - 1)]
