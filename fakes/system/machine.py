"""The server round the GPUs: processors, NUMA nodes, memory, and what its BIOS says of it.

A dual-socket server of the kind that carries eight GPUs (two Xeon Platinum 8480C with 56 cores and
2 TiB in 32 DIMMs, as DGX H100's user guide lists them); smaller cards sit in the same. Numbers of
processors are dealt as Linux does on two sockets with hyper-threading: first threads of all cores,
socket by socket, and then the second ones.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

NUMA_NODES = 2
CORES_PER_SOCKET = 56
THREADS_PER_CORE = 2
CPUS = NUMA_NODES * CORES_PER_SOCKET * THREADS_PER_CORE
CPU_MODEL = "Intel(R) Xeon(R) Platinum 8480C"
CPU_FAMILY, CPU_MODEL_NUMBER, CPU_STEPPING = 6, 143, 8
CPU_MHZ = 2000
CPU_MAX_MHZ, CPU_MIN_MHZ = 3800, 800
L1D_KIB_PER_CORE, L1I_KIB_PER_CORE, L2_KIB_PER_CORE, L3_KIB_PER_SOCKET = 48, 32, 2048, 107_520
CPU_FLAGS = (
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush dts acpi mmx "
    "fxsr sse sse2 ss ht tm pbe syscall nx pdpe1gb rdtscp lm constant_tsc rep_good nopl xtopology "
    "nonstop_tsc cpuid aperfmperf pni pclmulqdq monitor vmx smx est tm2 ssse3 fma cx16 pcid sse4_1 "
    "sse4_2 x2apic movbe popcnt aes xsave avx f16c rdrand lahf_lm abm avx2 bmi1 bmi2 erms avx512f "
    "avx512dq adx smap clflushopt clwb avx512cd sha_ni avx512bw avx512vl avx512_bf16 amx_bf16 "
    "avx512_fp16 amx_tile amx_int8"
)
DIMMS = 32
DIMM_GIB = 64
MEMORY_KIB = DIMMS * DIMM_GIB * 1024 * 1024 - 16_930_816  # less what the kernel keeps for itself
MANUFACTURER, PRODUCT, BOARD = "NVIDIA", "HGXH100", "HGX-H100-MB"
BIOS_VENDOR = "American Megatrends International, LLC."
BIOS_VERSION, BIOS_DATE = "1.5.6", "10/18/2024"

_GPUS_PER_SOCKET = 4


@dataclass(frozen=True, slots=True)
class Identity:
    """The numbers that make one server out of many of its kind."""

    serial: str
    board_serial: str
    asset_tag: str
    uuid: str


def identity(node: str) -> Identity:
    """A server's numbers, from its name: the same at every run."""
    digest = hashlib.sha256(f"machine/{node}".encode()).hexdigest()
    uuid = "-".join(
        (digest[:8], digest[8:12], f"4{digest[13:16]}", f"8{digest[17:20]}", digest[20:32])
    )
    number = int(digest[32:44], 16) % 10**10
    return Identity(f"1660{number:010d}", f"MB{number:010d}", f"A{number % 10**6:06d}", uuid)


def numa_node_of(gpu: int) -> int:
    """The NUMA node that a GPU's slot belongs to: four GPUs a socket."""
    return gpu // _GPUS_PER_SOCKET % NUMA_NODES


def cpus_of(numa_node: int) -> tuple[range, range]:
    """The processors of a NUMA node: first and second threads of its cores."""
    first = numa_node * CORES_PER_SOCKET
    second = CPUS // THREADS_PER_CORE + first
    return range(first, first + CORES_PER_SOCKET), range(second, second + CORES_PER_SOCKET)


def cpu_list(numa_node: int) -> str:
    """The same as the kernel writes it.

    >>> cpu_list(1)
    '56-111,168-223'
    """
    return ",".join(f"{part[0]}-{part[-1]}" for part in cpus_of(numa_node))


def memory_kib_of(numa_node: int) -> int:
    """The memory of a NUMA node."""
    return MEMORY_KIB // NUMA_NODES + (MEMORY_KIB % NUMA_NODES if numa_node == 0 else 0)
