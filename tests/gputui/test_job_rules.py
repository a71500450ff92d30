"""From a job's log to its incident: one each, of the right kind, with the cause and what to do.

The logs are shortened after public fault reports: the order and the form of the lines are theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from gputui.assess import Assessor
from gputui.incidents.engine import Engine
from gputui.incidents.rules import all_rules
from gputui.logs.job_event import JobEvent
from gputui.logs.job_reader import Origin, read_job_log
from gputui.model import GpuState, LinkSample, ProcessSample, Severity

NOW_S = 1_700_000_000.0


def incidents_of(log: str, *, engine: Engine | None = None, job: str = "train"):
    """The open incidents after a whole log."""
    engine = engine or Engine(all_rules(), interval_s=1.0)
    for heard in read_job_log([log.encode()], Origin(job=job), now_s=NOW_S):
        engine.job(heard.event)
    return engine.incidents


@dataclass(frozen=True)
class Report:
    """A log, and what it comes to; ``says`` stands in the advice."""

    name: str
    kind: str
    cause: str
    action: str
    says: str
    log: str
    severity: Severity = Severity.WARNING


WATCHDOG = (
    "[rank{rank}]:[E321 02:07:08.40827{rank} ProcessGroupNCCL.cpp:607] [Rank {rank}] Watchdog "
    "caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, "
    "NumelIn=9801523, NumelOut=9801523, Timeout(ms)=600000) ran for 600060 milliseconds before "
    "timing out.\n"
    "[rank{rank}]:[E321 02:07:08.46515{rank} ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID "
    "0(default_pg) Rank {rank}] Exception (either an error or timeout) detected by watchdog at "
    "work: {seq}, last enqueued NCCL work: {enq}, last completed NCCL work: {done}.\n"
    "[rank{rank}]:[E321 02:07:08.46516{rank} ProcessGroupNCCL.cpp:636] [Rank {rank}] To avoid data "
    "inconsistency, we are taking the entire process down.\n"
)


def watchdogs(*positions: tuple[int, int]) -> str:
    """What the watchdogs of some ranks say, each waiting in a collective."""
    return "".join(
        WATCHDOG.format(rank=rank, seq=seq, enq=seq + 3, done=seq - 1) for rank, seq in positions
    )


ELASTIC = """\
W0321 02:07:09.510000 2606 site-packages/torch/distributed/elastic/multiprocessing/api.py:897] Sending process 2631 closing signal SIGTERM
E0321 02:07:09.620000 2606 site-packages/torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: {exit}) local_rank: 5 (pid: 2630) of binary: /root/miniconda3/bin/python
Traceback (most recent call last):
  File "/root/miniconda3/bin/torchrun", line 8, in <module>
    sys.exit(main())
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
=====================================================
train.py FAILED
-----------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2025-03-25_20:57:27
  host      : n1
  rank      : 5 (local_rank: 5)
  exitcode  : {exit} (pid: 2630)
  error_file: <N/A>
"""  # noqa: E501, W291

REPORTS = (
    Report(
        "oom of one rank, the launcher, the scheduler",
        "GpuOutOfMemory", "shortage", "free_memory", "batch",
        """\
[rank3]: Traceback (most recent call last):
[rank3]:   File "/w/train.py", line 88, in step
[rank3]:     loss.backward()
[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.90 GiB. GPU 3 has a total capacity of 79.10 GiB of which 1.50 GiB is free. Including non-PyTorch memory, this process has 77.58 GiB memory in use. Of the allocated memory 74.07 GiB is allocated by PyTorch, and 1.33 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.
"""  # noqa: E501
        + ELASTIC.format(exit=1)
        + "srun: error: n1: task 0: Exited with exit code 1\n"
        "slurmstepd: error: *** STEP 4711.0 ON n1 CANCELLED AT 2025-03-25T20:57:36 ***\n",
    ),
    Report(
        "reserved but in pieces",
        "GpuOutOfMemory", "fragmentation", "check_config", "expandable_segments",
        "RuntimeError: CUDA out of memory. Tried to allocate 1.20 GiB (GPU 0; 23.70 GiB total "
        "capacity; 15.10 GiB already allocated; 300.00 MiB free; 22.10 GiB reserved in total by "
        "PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb\n",
    ),
    Report(
        "another process on the same GPU",
        "GpuOutOfMemory", "neighbour", "free_memory", "2493055",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total "
        "capacity of 14.57 GiB of which 1.58 GiB is free. Process 2493055 has 12.02 GiB memory in "
        "use. Including non-PyTorch memory, this process has 966.00 MiB memory in use. Of the "
        "allocated memory 734.07 MiB is allocated by PyTorch, and 33.93 MiB is reserved by PyTorch "
        "but unallocated.\n",
    ),
    Report(
        "XLA takes most of the memory at its start",
        "GpuOutOfMemory", "shortage", "free_memory", "XLA_PYTHON_CLIENT_MEM_FRACTION",
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
        "allocate 8589934592 bytes.\n",
    ),
    Report(
        "an interface that is not there",
        "NcclInitFailed", "interface-missing", "check_config", "NCCL_SOCKET_IFNAME=eno1",
        """\
n0:100:100 [0] NCCL INFO Bootstrap : Using eno1:10.0.0.1<0>
n1:90:90 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to ib0
n1:90:90 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found
n1:90:90 [0] NCCL INFO init.cc:82 -> 3
torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, internal error - please report this issue to the NCCL developers, NCCL version 2.19.3
ncclInternalError: Internal check failed.
Last error:
Bootstrap : no socket interface found
""",  # noqa: E501
    ),
    Report(
        "a node's name that resolves to itself",
        "NcclInitFailed", "hosts-loopback", "check_config", "/etc/hosts",
        "[W socket.cpp:663] [c10d] The client socket has failed to connect to any network address "
        "of (127.0.1.1, 29500).\n"
        "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while "
        "trying to connect to (127.0.1.1, 29500).\n",
    ),
    Report(
        "Docker's bridge chosen between nodes",
        "NcclInitFailed", "interface-wrong", "check_config", "export NCCL_SOCKET_IFNAME=eth0",
        "n1:139:1092 [7] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to "
        "172.17.0.1<38455> failed : Connection refused\n"
        "n1:139:1092 [7] NCCL INFO misc/socket.cc:564 -> 2\n"
        "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/"
        "ProcessGroupNCCL.cpp:1333, unhandled system error (run with NCCL_DEBUG=INFO for details), "
        "NCCL version 2.18.6\n"
        "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or "
        "device error. \n",
    ),
    Report(
        "no way between two subnets",
        "NcclInitFailed", "interface-wrong", "check_config", "NCCL_SOCKET_IFNAME",
        "n1:12251:12400 [5] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to "
        "fe80::966d:ae03:a2:8cf0%ib1<17943> failed : Software caused connection abort\n",
    ),
    Report(
        "a firewall, or nobody there",
        "NcclInitFailed", "port", "check_network", "nc -zv",
        "torch.distributed.DistNetworkError: The client socket has failed to connect to any "
        "network address of (node-0, 29500).\n",
    ),
    Report(
        "a port that is taken",
        "NcclInitFailed", "port", "check_config", "ss -ltnp",
        "[W socket.cpp:426] [c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - "
        "Address already in use).\n"
        "torch.distributed.DistNetworkError: The server socket has failed to listen on any local "
        "network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: "
        "address already in use\n",
    ),
    Report(
        "a name that does not resolve",
        "NcclInitFailed", "name-resolution", "check_config", "node-0' to /etc/hosts",
        "[W socket.cpp:601] [c10d] The IPv6 network addresses of (node-0, 29500) cannot be "
        "retrieved (gai error: -2 - Name or service not known).\n" * 5,
    ),
    Report(
        "two ranks on one GPU",
        "NcclInitFailed", "duplicate-gpu", "check_config", "LOCAL_RANK",
        "n1:77:99 [0] init.cc:743 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on "
        "CUDA device 3b000\n"
        "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/"
        "NCCLUtils.hpp:219, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version "
        "2.14.3\n"
        "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\n"
        "Last error:\nDuplicate GPU detected : rank 1 and rank 0 both on CUDA device 3b000\n",
    ),
    Report(
        "different versions of NCCL",
        "NcclInitFailed", "version-mismatch", "check_config", "same image",
        "n1:77:99 [0] init.cc:1200 NCCL WARN Mismatched NCCL version detected : rank 3 version "
        "22105 rank 0 version 21903\n",
    ),
    Report(
        "shared memory of a container",
        "NcclInitFailed", "shm-size", "check_config", "--shm-size",
        "n1:77:99 [0] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-7abc to "
        "9637892 bytes\n"
        "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/"
        "ProcessGroupNCCL.cpp:1251, unhandled system error, NCCL version 2.17.1\n",
    ),
    Report(
        "locked memory for RDMA",
        "NcclInitFailed", "ib-fallback", "check_config", "memlock",
        "n1:77:99 [0] misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error "
        "Cannot allocate memory\n",
    ),
    Report(
        "ranks that did not come",
        "NcclInitFailed", "missing-rank", "check_config", "WORLD_SIZE",
        "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. "
        "1/3 clients joined.\n",
    ),
    Report(
        "one rank did not report",
        "NcclTimeout", "missing-rank", "restart_app", "rank 2",
        watchdogs((0, 808), (1, 808), (3, 808)) + ELASTIC.format(exit=-6),
    ),
    Report(
        "one rank is behind",
        "NcclTimeout", "slow-rank", "restart_app", "rank 7",
        watchdogs(*((rank, 1582) for rank in range(7)), (7, 1580)),
    ),
    Report(
        "all wait in the same collective",
        "NcclTimeout", "network", "check_network", "ibstat",
        watchdogs(*((rank, 1580) for rank in range(8))),
    ),
    Report(
        "Horovod names the missing ranks",
        "NcclTimeout", "missing-rank", "restart_app", "rank 3",
        "[1,0]<stderr>:[2024-01-01 00:00:00.000000: W horovod/common/stall_inspector.cc:105] One "
        "or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks "
        "and are waiting for remainder of ranks for more than 60 seconds.\n"
        "[1,0]<stderr>:Missing ranks:\n"
        "[1,0]<stderr>:3: [grad_0, grad_1]\n"
        "[1,0]<stderr>:[2024-01-01 00:01:00.000000: W horovod/common/stall_inspector.cc:105] One "
        "or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks "
        "and are waiting for remainder of ranks for more than 60 seconds.\n",
    ),
    Report(
        "InfiniBand transfers that are not answered",
        "NcclTimeout", "network", "check_network", "ibstat",
        "n1:77:99 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
        "10.1.0.3<41235> with status=12 opcode=1 len=32600 vendor err 129 (Recv)\n"
        "[rank0]:[E321 02:07:08.4 ProcessGroupNCCL.cpp:636] [Rank 0] To avoid data inconsistency, "
        "we are taking the entire process down.\n",
    ),
    Report(
        "a port of InfiniBand that goes down",
        "IbLinkDegraded", "link", "check_network", "ibstat",
        "n1:77:99 [0] transport/net_ib.cc:90 NCCL WARN NET/IB : mlx5_3:1 Got non-fatal async "
        "event: port error(10)\n" + watchdogs((0, 5), (1, 5)),
    ),
    Report(
        "a kernel of the job's own",
        "JobFailed", "application", "restart_app", "compute-sanitizer",
        "[rank1]: RuntimeError: CUDA error: an illegal memory access was encountered\n"
        "[rank1]: CUDA kernel errors might be asynchronously reported at some other API call.\n"
        "terminate called after throwing an instance of 'c10::Error'\n"
        "  what():  CUDA error: an illegal memory access was encountered\n"
        + ELASTIC.format(exit=-6),
    ),
    Report(
        "killed for want of host memory",
        "JobFailed", "application", "restart_app", "dmesg",
        ELASTIC.format(exit=-9),
    ),
    Report(
        "tries, and NCCL's word that it failed",
        "NcclInitFailed", "port", "check_network", "nc -zv",
        "n1:2:3 [0] NCCL INFO Call to connect returned Connection refused, retrying\n" * 3
        + "RuntimeError: NCCL error in: /opt/pytorch/torch/lib/c10d/ProcessGroupNCCL.cpp:784, "
        "unhandled system error, NCCL version 2.7.8\n",
    ),
    Report(
        "tries, and the peer that was not reached",
        "NcclInitFailed", "network", "check_network", "ping 10.0.0.4 ",
        "n1:2:3 [0] NCCL INFO Call to connect returned Connection refused, retrying\n" * 3
        + "n1:2:3 [0] include/socket.h:421 NCCL WARN Connect to 10.0.0.4<56849> failed : No route "
        "to host\nRuntimeError: NCCL error in: /opt/pytorch/torch/lib/c10d/"
        "ProcessGroupNCCL.cpp:784, unhandled system error, NCCL version 2.7.8\n",
    ),
    Report(
        "Gloo's mesh on a loopback address",
        "NcclInitFailed", "hosts-loopback", "check_config", "GLOO_SOCKET_IFNAME",
        "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/"
        "pair.cc:144] connect [127.0.1.1]:53611: Connection refused\n",
    ),
    Report(
        "no route to a peer",
        "NcclInitFailed", "network", "check_network", "ping 10.0.0.4 ",
        "n1:2:3 [0] misc/socket.cc:1 NCCL WARN socketPollConnect: Connect to 10.0.0.4<56849> "
        "returned 113(No route to host) errno 115(Operation now in progress)\n",
    ),
    Report(
        "a peer that refuses",
        "NcclInitFailed", "port", "check_network", "nc -zv",
        "n1:2:3 [0] include/socket.h:403 NCCL WARN Connect to 10.0.0.4<56849> failed : Connection "
        "refused\n",
    ),
    Report(
        "Gloo on a loopback address",
        "NcclInitFailed", "hosts-loopback", "check_config", "/etc/hosts",
        "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:799] connect "
        "[127.0.1.1]:53611: Connection refused\n",
    ),
    Report(
        "Gloo on a network that breaks off",
        "NcclInitFailed", "network", "check_network", "GLOO_SOCKET_IFNAME",
        "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:799] connect "
        "[10.0.0.1]:53611: Software caused connection abort\n",
    ),
    Report(
        "vLLM beside a neighbour",
        "GpuOutOfMemory", "neighbour", "free_memory", "nvidia-smi",
        "ValueError: Free memory on device cuda:0 (12.3/79.1 GiB) on startup is less than desired "
        "GPU memory utilization (0.9, 71.19 GiB). Decrease GPU memory utilization\n",
    ),
    Report(
        "JAX without NCCL's library",
        "NcclInitFailed", "version-mismatch", "check_config", "nvidia-nccl",
        "RuntimeError: NCCL operation ncclGetUniqueId(&id) failed: Unable to load NCCL library\n",
    ),
    Report(
        "Slurm's memory limit",
        "JobFailed", "application", "restart_app", "--mem",
        "slurmstepd: error: Detected 2 oom_kill events in StepId=13.0. Some of the step tasks have "
        "been OOM Killed.\nsrun: error: n1: task 0: Out Of Memory\n"
        "srun: error: n1: task 1: Killed\n",
    ),
    Report(
        "Slurm's time limit",
        "JobFailed", "application", "restart_app", "--time",
        "slurmstepd: error: *** JOB 4711 ON n2 CANCELLED AT 2024-05-01T12:00:00 DUE TO TIME LIMIT "
        "***\n",
    ),
    Report(
        "data loaders without shared memory",
        "JobFailed", "shm-size", "check_config", "--shm-size",
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient "
        "shared memory (shm).\n"
        "RuntimeError: DataLoader worker (pid 46794) is killed by signal: Bus error. It is "
        "possible that dataloader's workers are out of shared memory. Please try to raise your "
        "shared memory limit.\n",
    ),
    Report(
        "an uncorrectable memory error",
        "EccUncorrectable", "dram", "reset_gpu", "nvidia-smi -q -d ECC",
        "[rank4]: RuntimeError: CUDA error: uncorrectable ECC error encountered\n"
        + watchdogs((0, 9), (1, 9), (2, 9)),
        Severity.CRITICAL,
    ),
    Report(
        "Fabric Manager not running",
        "FabricNotReady", "fabric-manager", "check_config", "nvidia-fabricmanager",
        "/opt/torch/cuda/__init__.py:141: UserWarning: CUDA initialization: Unexpected error from "
        "cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() "
        "that might have already set an error? Error 802: system not yet initialized (Triggered "
        "internally at ../c10/cuda/CUDAFunctions.cpp:108.)\n",
    ),
    Report(
        "a driver that is too old",
        "CudaVersionMismatch", "versions", "check_config", "upgrade the driver",
        "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please "
        "update your GPU driver by downloading and installing a new version\n",
    ),
    Report(
        "a build without code for the GPU",
        "CudaVersionMismatch", "versions", "check_config", "sm_120",
        "/opt/torch/cuda/__init__.py:235: UserWarning: \n"
        "NVIDIA GeForce RTX 5090 D with CUDA capability sm_120 is not compatible with the current "
        "PyTorch installation.\n"
        "RuntimeError: CUDA error: no kernel image is available for execution on the device\n",
    ),
    Report(
        "the driver upgraded under a running kernel module",
        "DriverMismatch", "versions", "reload_driver", "modprobe",
        "Failed to initialize NVML: Driver/library version mismatch\n"
        "NVML library version: 535.161\n",
        Severity.CRITICAL,
    ),
    Report(
        "a container that lost its devices",
        "ContainerLostGpu", "cgroup", "check_config", "restart the container",
        "Failed to initialize NVML: Unknown Error\n",
    ),
    Report(
        "Docker without the toolkit",
        "ContainerLostGpu", "toolkit", "check_config", "nvidia-ctk runtime configure",
        'docker: Error response from daemon: could not select device driver "" with capabilities: '
        "[[gpu]].\nERRO[0000] error waiting for container: context canceled\n",
    ),
    Report(
        "a checkpoint on a full disk",
        "StorageStall", "storage", "check_storage", "df -h",
        "[rank0]: OSError: [Errno 28] No space left on device: '/ckpt/step_1000.pt'\n"
        + ELASTIC.format(exit=1),
    ),
    Report(
        "a file server that forgot its files",
        "StorageStall", "storage", "check_storage", "remount",
        "OSError: [Errno 116] Stale file handle: '/mnt/data/shard-0001.tar'\n",
    ),
    Report(
        "a node that failed under the job",
        "NodeDown", "unknown", "reboot_node", "scontrol show node n2",
        "srun: error: Node failure on n2\n"
        "n1:77:99 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer "
        "n2<51234>\n",
        Severity.CRITICAL,
    ),
    Report(
        "only that a peer went first",
        "NcclTimeout", "missing-rank", "restart_app", "failed first",
        "n1:77:99 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer "
        "n2<51234>\n"
        "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/"
        "ProcessGroupNCCL.cpp:1691, remote process exited or there was a network error, NCCL "
        "version 2.21.5\n"
        "ncclRemoteError: A call failed possibly due to a network error or a remote process "
        "exiting prematurely.\n" + ELASTIC.format(exit=1),
    ),
)  # fmt: skip


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_a_fault_report_is_one_incident(report):
    """However many ranks cry: the right kind, cause, action and command."""
    (incident,) = incidents_of(report.log)
    assert (incident.kind, incident.cause) == (report.kind, report.cause), incident
    assert incident.action.value == report.action
    assert report.says in incident.action_text
    assert incident.severity is report.severity
    assert incident.subject == "job:train"
    assert incident.evidence


HARMLESS = (
    "n0:1:2 [0] NCCL INFO Connected all rings\nn0:1:2 [0] NCCL INFO comm 0x7 - Init COMPLETE\n",
    "/opt/torch/cuda/amp.py:10: FutureWarning: torch.cuda.amp.GradScaler is deprecated\n",
    "| WARNING: ran out of memory in forward pass, retrying batch\n",
    "WARNING: caught CUDA out of memory. Tried to allocate 1.95 GiB, halving the batch to 8\n",
    "INFO:root:batch size 64: CUDA out of memory. Tried to allocate 1.95 GiB, trying 32\n",
    "[W socket.cpp:436] [c10d] The server socket has started\n",
    "step 100: loss 2.31, memory 61.2 GiB, 0 errors, no timeouts\n" * 100,
    "W0325 20:57:27.5 2606 torch/distributed/run.py:766] Setting OMP_NUM_THREADS to be 1\n",
    "n1:2:3 [0] NCCL INFO Call to connect returned Connection refused, retrying\n" * 3,
    "n1:2:3 [0] NCCL INFO NET/IB : No device found.\n",
    "slurmstepd: error: *** JOB 4711 ON n2 CANCELLED AT 2024-05-01T12:00:00 DUE TO PREEMPTION "
    "***\n",
)


@pytest.mark.parametrize("log", HARMLESS)
def test_what_is_harmless_calls_nobody(log):
    """NCCL's news, deprecations, an OOM that is gone on from, the first retries: at most info."""
    assert all(one.severity is Severity.INFO for one in incidents_of(log))


def test_the_cause_may_be_told_after_its_symptom():
    """What was told before hangs under it, and what comes after adds nothing."""
    symptom = "n1:1:2 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer n2<5>\n"  # noqa: E501
    cause = "[rank3]: RuntimeError: CUDA error: uncorrectable ECC error encountered\n"
    engine = Engine(all_rules(), interval_s=1.0)
    assert [one.kind for one in incidents_of(symptom, engine=engine)] == ["NcclTimeout"]
    parent, child = incidents_of(cause + symptom * 5, engine=engine)
    assert (parent.kind, child.kind) == ("EccUncorrectable", "NcclTimeout")
    assert child.parent == parent.id


def test_a_jobs_dying_words_hang_under_the_lost_gpu_it_ran_on(make):
    """The GPU fell off the bus in the same minute: its job's failure is no case of its own."""
    engine = Engine(all_rules(), interval_s=1.0)
    process = ProcessSample(4711, 3, job="train", command="python3 train.py")
    healthy = make.node(NOW_S - 1)
    engine.sample(replace(healthy, processes=(process,)))
    engine.log(make.xid(NOW_S, 3, 79, "GPU has fallen off the bus."))
    engine.sample(make.node(NOW_S + 1, make.lost(3)))
    text = "[rank3]: RuntimeError: CUDA error: unspecified launch failure\n"
    for heard in read_job_log([text.encode()], Origin(job="train"), now_s=NOW_S + 2):
        engine.job(heard.event)
    engine.sample(make.node(NOW_S + 3, make.lost(3)))
    by_kind = {one.kind: one for one in engine.incidents}
    assert by_kind["JobFailed"].parent == by_kind["GpuLost"].id


LAUNCH_FAILURE = "[rank3]: torch.AcceleratorError: CUDA error: unspecified launch failure\n"


@pytest.mark.parametrize("kernel_tells", [True, False])
def test_a_job_that_died_of_a_lost_gpu_before_anybody_looked_hangs_under_it(make, kernel_tells):
    """Its processes are gone, so that nobody knows its GPUs; its log, and perhaps the kernel's, are
    read back. A quarter of an hour later gputui starts.
    """
    engine = Engine(all_rules(), interval_s=1.0)
    node = make.node(NOW_S + 900, make.lost(3))
    engine.meet(node)
    if kernel_tells:
        engine.log(make.xid(NOW_S - 5, 3, 79, "GPU has fallen off the bus."))
    engine.sample(node)
    for heard in read_job_log([LAUNCH_FAILURE.encode()], Origin(job="slurm-7"), now_s=NOW_S):
        engine.job(heard.event)
    failed = next(one for one in engine.incidents if one.kind == "JobFailed")
    assert [one.kind for one in engine.incidents if one.parent is None] == ["GpuLost"]
    assert (failed.cause == "lost-gpu", "GPU 3" in failed.cause_text) == (kernel_tells,) * 2


def test_a_job_elsewhere_that_fails_much_later_does_not(make):
    """A GPU lost in the morning is no reason for what fails at noon on nobody knows which."""
    engine = Engine(all_rules(), interval_s=1.0)
    engine.sample(make.node(NOW_S - 7200, make.lost(3)))
    engine.log(make.xid(NOW_S - 7200, 3, 79, "GPU has fallen off the bus."))
    engine.sample(make.node(NOW_S - 1, make.lost(3)))
    incidents_of(LAUNCH_FAILURE, engine=engine)
    roots = {one.kind for one in engine.incidents if one.parent is None}
    assert roots == {"GpuLost", "JobFailed"}


def test_the_holder_of_the_memory_may_have_ended(make):
    """A process that the driver lists though it has ended is what is left of an earlier run."""
    engine = Engine(all_rules(), interval_s=1.0)
    left = ProcessSample(2493055, 0, unreachable="it has ended", command="[ended]")
    engine.sample(replace(make.node(NOW_S - 1), processes=(left,)))
    report = next(one for one in REPORTS if one.cause == "neighbour")
    found = [one for one in incidents_of(report.log, engine=engine) if one.kind == report.kind]
    assert [one.cause for one in found] == ["zombie"]


def test_of_several_holders_each_has_its_own_share():
    """Their number, their sum, and the biggest with what it holds."""
    (incident,) = incidents_of(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total "
        "capacity of 79.10 GiB of which 512.00 MiB is free. Process 31337 has 1.29 GiB memory in "
        "use. Process 41221 has 40.00 GiB memory in use. Including non-PyTorch memory, this "
        "process has 300.00 MiB memory in use. Process 5 has 37.00 GiB memory in use. Of the "
        "allocated memory 10.00 MiB is allocated by PyTorch, and 33.93 MiB is reserved by PyTorch "
        "but unallocated.\n"
    )
    assert incident.cause == "neighbour"
    assert "3 processes hold 78.3 GiB" in incident.cause_text
    assert "process 41221 the most (40.0 GiB)" in incident.cause_text
    assert incident.action_text.startswith("ps -fp 41221,5,31337:")


def test_numbers_of_another_program_keep_their_unit():
    """A count in GiB stays one: vLLM says itself that others hold the memory."""
    report = next(one for one in REPORTS if one.name == "vLLM beside a neighbour")
    (incident,) = incidents_of(report.log)
    assert incident.cause_text.startswith("only 12.3 of 79.1 GiB were free")


def test_colours_are_no_part_of_a_line():
    """Ray paints who speaks; the words are the same, as is the line that is kept."""
    (incident,) = incidents_of(
        "\x1b[2m\x1b[36m(train pid=4123, ip=10.0.0.3)\x1b[0m RuntimeError: CUDA error: "
        "misaligned address\n"
    )
    assert incident.kind == "JobFailed"
    assert "(train pid=4123, ip=10.0.0.3) RuntimeError" in incident.evidence[0]


@pytest.mark.parametrize(
    "failure", ["RuntimeError: CUDA error: an illegal memory access was encountered", "Killed"]
)
def test_tries_that_went_well_explain_no_later_failure(failure):
    """A kernel that failed, or a signal, is a case of its own beside what was news."""
    found = incidents_of(
        f"n1:2:3 [0] NCCL INFO Call to connect returned Connection refused, retrying\n{failure}\n"
    )
    assert {(one.kind, one.severity, one.parent) for one in found} == {
        ("NcclInitFailed", Severity.INFO, None),
        ("JobFailed", Severity.WARNING, None),
    }


def test_the_ranks_that_did_not_come_are_named():
    """Two are ranks, one is a rank."""
    stall = (
        "One or more tensors were submitted to be reduced, gathered or broadcasted by subset of "
        "ranks and are waiting for remainder of ranks for more than 60 seconds.\nMissing ranks:\n"
    )
    (one,) = incidents_of(f"{stall}5: [b]\n")
    (two,) = incidents_of(f"{stall}0: [a]\n5: [b]\n")
    assert one.cause_text.startswith("rank 5 did not come")
    assert two.cause_text.startswith("ranks 0, 5 did not come")


def test_sockets_beside_infiniband_are_a_fault(make):
    """Where a port is up that NCCL does not see, its fall-back to sockets warns."""
    engine = Engine(all_rules(), interval_s=1.0)
    port = LinkSample("mlx5_0/1", kind="infiniband", state="active")
    engine.sample(replace(make.node(NOW_S - 1), links=(port,)))
    (incident,) = incidents_of("n1:2:3 [0] NCCL INFO NET/IB : No device found.\n", engine=engine)
    assert (incident.kind, incident.cause) == ("SlowCollective", "ib-fallback")
    assert incident.severity is Severity.WARNING


def test_a_job_that_failed_does_not_degrade_its_gpu(make):
    """The GPU is well: it is named, and stays ok."""
    assessor = Assessor(interval_s=1.0)
    process = ProcessSample(4711, 3, job="train")
    assessor.sample(replace(make.node(NOW_S - 1), processes=(process,)))
    origin = Origin("train", 4711, 3, 3)
    text = b"RuntimeError: CUDA error: misaligned address\n"
    for heard in read_job_log([text], origin, now_s=NOW_S):
        assessor.hear_job(heard.event)
    snapshot = assessor.sample(make.node(NOW_S + 1))
    assert [(one.kind, one.gpu) for one in snapshot.incidents] == [("JobFailed", 3)]
    assert snapshot.statuses[3].state is GpuState.OK


def test_two_jobs_are_two_incidents():
    """What one job says explains nothing of another's failure."""
    engine = Engine(all_rules(), interval_s=1.0)
    incidents_of("RuntimeError: CUDA error: out of memory\n", engine=engine, job="a")
    found = incidents_of("RuntimeError: CUDA error: misaligned address\n", engine=engine, job="b")
    assert {(one.subject, one.kind) for one in found} == {
        ("job:a", "GpuOutOfMemory"),
        ("job:b", "JobFailed"),
    }


def test_a_flood_of_words_is_one_incident_with_few_lines():
    """A thousand ranks that say the same: counted, not kept."""
    log = "".join(
        f"[rank{rank}]: RuntimeError: CUDA error: an illegal memory access was encountered\n"
        for rank in range(1000)
    )
    (incident,) = incidents_of(log)
    assert incident.count == 1000
    assert len(incident.evidence) <= 4


def test_an_event_without_a_known_text_is_nothing():
    """Facts of a newer version, say."""
    engine = Engine(all_rules(), interval_s=1.0)
    engine.job(JobEvent("from the future", "oom", NOW_S, "words", "train"))
    assert engine.incidents == ()


RETRY = (
    "[W socket.cpp:663] [c10d] The client socket has failed to connect to "
    "[::ffff:10.0.0.4]:29500 (errno: 111 - Connection refused).\n"
)


def test_torchs_tries_to_reach_rank_0_are_no_failure():
    """However many ranks try: the address is told as it is written, and nobody is called."""
    (one,) = incidents_of(RETRY * 20)
    assert (one.kind, one.severity) == ("NcclInitFailed", Severity.INFO)
    assert "rank 0's store at 10.0.0.4 port 29500 is not reached yet" in one.cause_text


def test_torchs_time_out_after_tries_is_a_failure():
    """Its own error, after or before the last try, is what is told."""
    failed = (
        "[E socket.cpp:957] [c10d] The client socket has timed out after 60s while trying to "
        "connect to (node-0, 29500).\n"
    )
    for log in (RETRY + failed, failed + RETRY):
        (one,) = incidents_of(log)
        assert (one.kind, one.severity) == ("NcclInitFailed", Severity.WARNING)
        assert "at node-0 port 29500" in one.cause_text


MILD_THEN_FATAL = {
    "NCCL gives up after tries": (
        "n1:2:3 [0] NCCL INFO Call to connect returned Connection refused, retrying\n"
        * 2
        + "n1:2:3 [0] misc/socket.cc:538 NCCL WARN socketPollConnect: connect to 10.0.0.5<43211> "
        "returned Connection refused, exceeded error retry count after 35 attempts\n"
    ),
    "an allocator's warning, and XLA's error": (
        "2025-03-02 09:11:00.123456: W external/tsl/tsl/framework/bfc_allocator.cc:482] Allocator "
        "(GPU_0_bfc) ran out of memory trying to allocate 8.00GiB (rounded to 8589934592)"
        "requested by op \n"
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
        "allocate 8589934592 bytes.\n"
    ),
    "an allocator's warning, and TensorFlow's error": (
        "2025-03-02 09:11:00.123456: W external/tsl/tsl/framework/bfc_allocator.cc:482] Allocator "
        "(GPU_0_bfc) ran out of memory trying to allocate 8.00GiB (rounded to 8589934592)"
        "requested by op \n"
        "2025-03-02 09:11:10.123456: W tensorflow/core/framework/op_kernel.cc:1745] OP_REQUIRES "
        "failed at conv_ops.cc:1115 : RESOURCE_EXHAUSTED: OOM when allocating tensor with "
        "shape[256,64,112,112] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by "
        "allocator GPU_0_bfc\n"
        "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error: "
        "OOM when allocating tensor with shape[256,64,112,112]\n"
    ),
}


@pytest.mark.parametrize("name", MILD_THEN_FATAL)
def test_what_was_mild_is_a_warning_once_it_failed(name):
    """Lines of one moment have no order; of one kind, the failure outdoes what was gone on from."""
    (one,) = incidents_of(MILD_THEN_FATAL[name])
    assert one.severity is Severity.WARNING
    assert one.kind in ("NcclInitFailed", "GpuOutOfMemory")


def test_tensorflow_without_host_memory_is_not_out_of_gpu_memory():
    """Its words name the device: what the CPU's allocator lacks is another matter."""
    assert not incidents_of(
        "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating "
        "tensor with shape[256,64] and type float on /job:localhost/replica:0/task:0/device:CPU:0 "
        "by allocator cpu\n"
    )


def test_a_process_that_can_only_be_the_job_itself_is_no_neighbour():
    """In a container a job's own PID is another: more than the job leaves free is its own."""
    oom = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {want} GiB. GPU 3 has a "
        "total capacity of 79.15 GiB of which 1.06 GiB is free. Process 2423 has {held} GiB memory "
        "in use. Of the allocated memory {alloc} GiB is allocated by PyTorch, and 0.51 GiB is "
        "reserved by PyTorch but unallocated.\n"
    )
    (own,) = incidents_of(oom.format(want="2.00", held="78.08", alloc="76.27"))
    assert own.cause == "shortage"
    (other,) = incidents_of(oom.format(want="2.00", held="40.00", alloc="36.27"))
    assert other.cause == "neighbour"


@pytest.mark.parametrize(
    ("line", "cause", "says"),
    [
        (
            "nvidia: version magic '5.15.0-122-generic SMP mod_unload ' should be "
            "'5.15.0-124-generic SMP mod_unload '",
            "versions",
            "built for kernel 5.15.0-122-generic, 5.15.0-124-generic runs",
        ),
        (
            "Oct 11 08:00:02 k8s-w4 systemd-modules-load[412]: Failed to insert module 'nvidia': "
            "Exec format error",
            "versions",
            "another kernel: Exec format error",
        ),
        (
            "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service",
            "configuration",
            "Secure Boot",
        ),
        ("modprobe: ERROR: could not insert 'nvidia': No such device", "configuration", "no GPU"),
        (
            "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-40-generic",
            "versions",
            "for kernel 6.8.0-40-generic",
        ),
        (
            "nvidia: disagrees about version of symbol module_layout",
            "versions",
            "symbol module_layout differs",
        ),
    ],
)
def test_a_driver_that_was_not_loaded_says_why(line, cause, says):
    """Its module fits another kernel, is not signed, is not there, or finds no GPU."""
    (one,) = incidents_of(f"{line}\n")
    assert (one.kind, one.cause) == ("DriverNotLoaded", cause)
    assert says in one.cause_text


@pytest.mark.parametrize("colour", ["", "\x1b[31m", "[31m"])
def test_a_container_runtimes_name_after_a_level_is_part_of_what_it_says(colour):
    """It is no logger's name, and stands behind a date with slashes and a level in brackets."""
    (one,) = incidents_of(
        f"{colour}2024/05/05 11:11:11 [ERROR] nvidia-container-cli: initialization error: load "
        "library failed: libnvidia-ml.so.1: cannot open shared object file\n"
    )
    assert one.kind == "ContainerLostGpu"
