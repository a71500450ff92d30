"""The texts that jobs print: each is recognised where a program says it, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputui.incidents.rules import all_rules
from gputui.logs.sieve import Sieve
from gputui.logs.statement import statement_of
from gputui.logs.text_facts import Role, cuda_facts, text_fact, text_facts
from gputui.logs.texts import match

FACTS = tuple(text_facts().values())
ERRORS = tuple(fact for code, fact in cuda_facts().items() if code != 300)  # shares 200's words

CAUSES = """bus power firmware driver unknown dram sram contained uncontained link peer switch
    fabric-manager version-mismatch configuration shortage fragmentation neighbour zombie leak
    versions cgroup toolkit name-resolution hosts-loopback interface-missing interface-wrong port
    duplicate-gpu lost-gpu shm-size ib-fallback slow-rank missing-rank network application
    storage"""


def text_of(line):
    """The id of the text that a line is, and its parts; None for none."""
    if not list(Sieve().pick(line.encode() + b"\n")):
        return None
    statement = statement_of(line)
    found = match(statement) if statement else None
    return (found.fact.id, dict(found.fields)) if found else None


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.id)
def test_every_text_is_recognised_in_its_example(fact):
    """Its own row, not another that comes before it."""
    found = text_of(fact.example)
    assert found is not None
    assert found[0] == fact.id


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.id)
def test_a_quoted_text_is_nothing(fact):
    """In code, in prose, in a comment, in JSON, in the output of a search, in a list."""
    text = fact.example.strip().rstrip("$")
    for quoted in (
        f'    raise RuntimeError("{text}")',
        f"if '{text}' in str(error):",
        f"# {text}",
        f"> {text}",
        f"- {text}",
        f'{{"role": "user", "content": "{text}"}}',
        f"train.log:123:{text}",
        f"grep -rn '{text}' logs/",
        f"alice asks what it means when a job says {text}",
        f"2024-05-01 10:00:00,000 - chat - INFO - the user writes: {text}",
    ):
        assert text_of(quoted) is None, quoted


@pytest.mark.parametrize("fact", ERRORS, ids=lambda fact: fact.id)
def test_cuda_errors_are_known_by_words_name_and_number(fact):
    """As PyTorch, ONNX Runtime, CuPy, NVIDIA's samples and NCCL print them."""
    name = fact.names[0]
    for line in (
        f"RuntimeError: CUDA error: {fact.text}",
        f"[rank3]: torch.AcceleratorError: CUDA error: {fact.text}",
        f"CUDA failure {fact.code}: {fact.text} ; GPU=0 ; hostname=n1",
        f"cupy_backends.cuda.api.runtime.CUDARuntimeError: {name}: {fact.text}",
        f'CUDA error at a.cu:12 code={fact.code}({name}) "cudaDeviceSynchronize()"',
        f"n1:1:2 [0] NCCL WARN Cuda failure {fact.code} '{fact.text}'",
    ):
        found = text_of(line)
        assert found is not None, line
        assert found[0] == fact.id, line


@pytest.mark.parametrize("fact", (*FACTS, *ERRORS), ids=lambda fact: fact.id)
def test_every_text_keeps_to_the_vocabulary(fact):
    """Its kind has a rule, its cause is a known word, and its advice says what to do."""
    if fact.role is Role.CONTEXT:
        return
    assert fact.cause in CAUSES.split()
    assert fact.meaning
    assert text_fact(fact.id) is fact


PREFIXED = (
    ("3: ", 3),
    ("[1,3]<stderr>:", 3),
    ("[1,3]<stderr>: [rank3]:", 3),
    ("[rank3]: ", 3),
    ("[Rank 3] ", 3),
    ("node-3: ", None),
    ("10.0.0.2: [rank3]: ", 3),
    ("worker-0  | ", None),
    ("trainer_1 | ", None),
    ("trainer      | ", None),
    ("2025-02-18 12:54 [rank3]:", 3),
    ("trainer-0 [stderr] ", None),
    ("trainer [stderr] [rank3]: ", 3),
    ("\x1b[36m(train pid=4123, ip=10.0.0.3)\x1b[0m ", None),
    ("(RayTrainWorker pid=1234, ip=10.0.0.2) ", None),
    ("(VllmWorker rank=3 pid=99) ERROR 05-01 10:00:00 [core.py:123] ", None),
    ("2024-05-01 10:00:00,123 - trainer - ERROR - ", None),
    ("[2024-05-01 10:00:00] ", None),
    ("2024-05-01T10:00:00.123456789Z stderr F ", None),
    ("ERROR:root:", None),
    ("2024-04-10 04:59:03 | ERROR | trainer:main:12 - ", None),
    ("[default3]:[rank3]: ", 3),
    ("\x1b[36m(Worker pid=3)\x1b[0m ", None),
    ("stderr: ", None),
    ("  what():  ", None),
    ("Epoch 0:   6%|##     | 3/50 [6:28<94:39,  1.37it/s, loss=2.6][rank3]: ", 3),
)


@pytest.mark.parametrize(("prefix", "rank"), PREFIXED, ids=lambda value: str(value).strip())
def test_what_launchers_and_loggers_put_in_front_is_taken_off(prefix, rank):
    """The text is recognised, and the rank that the prefix names is known."""
    line = f"{prefix}RuntimeError: CUDA error: unspecified launch failure"
    if prefix.strip() == "what():":
        line = f"{prefix}CUDA error: unspecified launch failure"
    assert text_of(line) == ("cuda_launch_fail", {})
    assert statement_of(line).rank == rank


@pytest.mark.parametrize("attributes", ["", '"attrs":{"tag":"a"},'])
def test_a_record_of_docker_is_the_line_in_it(attributes):
    """Its json-file driver keeps each line as an object, with the time at which it came."""
    line = (
        '{"log":"[rank3]: RuntimeError: CUDA error: unspecified launch failure\\n",'
        f'"stream":"stderr",{attributes}"time":"2025-02-18T12:54:00.123456789Z"}}'
    )
    assert text_of(line) == ("cuda_launch_fail", {})
    statement = statement_of(line)
    assert (statement.rank, statement.stamp[:19]) == (3, "2025-02-18T12:54:00")


NEAR_MISSES = (
    "quote | RuntimeError: CUDA error: an illegal memory access was encountered",
    "user | RuntimeError: CUDA error: an illegal memory access was encountered",
    '{"log":"alice: RuntimeError: CUDA error: unspecified launch failure","stream":"stderr",'
    '"time":"2025-02-18T12:54:00Z"}',
    "MemoryError: failed to allocate memory",
    "2023-05-01 10:00:00.000000: W tensorflow/tsl/framework/bfc_allocator.cc:290] Allocator "
    "(GPU_0_bfc) ran out of memory trying to allocate 2.29GiB with freed_by_count=0. The caller "
    "indicates that this is not a failure, but this may mean that there could be performance gains "
    "if more memory were available.",
    "Connect to the first node failed : Connection refused",
    "CUDA error: device-side assert triggered, so set CUDA_LAUNCH_BLOCKING=1",
    "CUDA error: out of memory means that the batch is too large",
    "2024-05-01 10:00:00 INFO assistant: CUDA error: device-side assert triggered",
    "2024-05-01 10:00:00 - agent - INFO - RuntimeError: CUDA error: invalid device ordinal",
    'level=info msg="RuntimeError: CUDA error: invalid device ordinal"',
    "**RuntimeError: CUDA error: invalid device ordinal**",
    "`NCCL WARN Bootstrap : no socket interface found`",
    "FAILED tests/test_x.py::test_y - RuntimeError: CUDA error: invalid device ordinal",
    "a1b2c3d RuntimeError: CUDA error: invalid device ordinal is told better",
    "Known issue: NCCL WARN Bootstrap : no socket interface found",
    '[rank0]:     raise RuntimeError("CUDA error: invalid device ordinal")',
    "3,train,RuntimeError: CUDA error: invalid device ordinal",
    '    if "CUDA out of memory" in str(e):',
    "[12:01] bob: has anyone seen RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB?",
    "<alice> RuntimeError: CUDA error: invalid device ordinal",
    'The error "Bootstrap : no socket interface found" means that nothing matches.',
    "If you see CUDA error: device-side assert triggered, set CUDA_LAUNCH_BLOCKING=1.",
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
    "retrying after error 'CUDA out of memory. Tried to allocate 1.95 GiB.' with batch size 8",
    "WARNING: caught CUDA out of memory. Tried to allocate 1.95 GiB, halving the batch",
    "OOM: Ran out of memory with exception: CUDA out of memory. Tried to allocate 2.00 GiB",
    "ValueError: unknown pattern 'CUDA error: an illegal memory access was encountered'",
    "KeyError: 'OSError: [Errno 28] No space left on device'",
    "| RuntimeError: CUDA out of memory. | more memory |",
    "1. RuntimeError: CUDA error: out of memory",
    "E       RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 1 GiB total",
    "test_oom.py::test_message PASSED [CUDA out of memory. Tried to allocate 20.00 MiB]",
    "Killed the old server",
    "No space left for the caption",
    "Address already in use is a common error",
    "echo slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some",
    "n0:1:2 [0] NCCL INFO Connected all rings",
    "n0:1:2 [0] NCCL INFO NET/Plugin: No plugin found (libnccl-net.so)",
    "n0:1:2 [0] NCCL INFO comm 0x7f rank 0 nranks 8 - Destroy COMPLETE",
    "/opt/torch/cuda/__init__.py:10: FutureWarning: torch.cuda.amp is deprecated",
    "user: docker: Error response from daemon: could not select device driver",
    "Q: Failed to initialize NVML: Unknown Error",
)


@pytest.mark.parametrize("line", NEAR_MISSES)
def test_what_only_resembles_a_text_is_nothing(line):
    """Prose, code, quotations, handled errors and NCCL's ordinary news."""
    assert text_of(line) is None


def test_every_kind_that_a_text_makes_has_a_rule_for_it():
    """Else the text would be read in vain."""
    kinds = {rule.kind for rule in all_rules() if rule.on_job is not None}
    told = {fact.kind for fact in (*FACTS, *ERRORS) if fact.role is not Role.CONTEXT}
    assert told <= kinds


LIKE = (
    (
        "n1:2:3 [0] include/socket.h:403 NCCL WARN Connect to 10.0.0.4<56849> failed : Network is "
        "unreachable",
        "nccl_refused_plain",
    ),
    (
        "OOM when allocating tensor with shape[64,512,512,3] and type float on /job:localhost/"
        "replica:0/task:0/device:GPU:1 by allocator GPU_1_bfc",
        "tf_oom",
    ),
    (
        "OOM when allocating tensor with shape[8,8] by allocator GPU_0_bfc",
        "tf_oom",
    ),
    (
        "n1:2:3 [0] include/socket.h:421 NCCL WARN Call to connect failed : No route to host",
        "nccl_refused_old",
    ),
    (
        "jaxlib.xla_extension.XlaRuntimeError: UNIMPLEMENTED: NCCL operation ncclGetUniqueId(&id) "
        "failed: Unable to load NCCL library",
        "nccl_library",
    ),
    (
        "RuntimeError: Gloo connectFullMesh failed with [/pytorch/third_party/gloo/gloo/transport/"
        "tcp/pair.cc:144] Software caused connection abort",
        "gloo_mesh",
    ),
    (
        "  (0) RESOURCE_EXHAUSTED:  OOM when allocating tensor with shape[8,8] and type half on "
        "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc",
        "tf_oom",
    ),
    (
        "RuntimeError: NCCL operation ncclCommInitRank(&comm, 8, id, 0) failed: unhandled cuda "
        "error (run with NCCL_DEBUG=INFO for details). Last NCCL warning(error) log entry (may be "
        "unrelated) 'Cuda failure 'out of memory''",
        "cuda_oom",
    ),
    (
        "nvidia-container-cli: ldcache error: process /usr/sbin/ldconfig failed with error code: 1",
        "ctk_error",
    ),
    ("RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable", "cuda_busy"),
    (
        "[rank2]:[E1128 10:11:12.1 ProcessGroupNCCL.cpp:1595] [PG ID 0 PG GUID 0(default_pg) Rank "
        "2] Process group watchdog thread terminated with exception: CUDA error: unspecified "
        "launch failure",
        "cuda_launch_fail",
    ),
    ("n4:88:157 [0] transport/p2p.cc:136 NCCL WARN Cuda failure 'out of memory'", "cuda_oom"),
    (
        "[2026-03-13 22:26:02] n3:4711:4720 [5] os/linux.cc:262 NCCL WARN ncclOsSocketPollConnect: "
        "connect to 10.0.0.3<40213> returned Connection refused, exceeded error retry count after "
        "34 attempts",
        "nccl_refused_new",
    ),
    ("Failed: Cuda error /w/csrc/custom_all_reduce.cuh:368 'invalid argument'", "cuda_1"),
    (
        "[TRT] [E] 1: [defaultAllocator.cpp::allocate::20] Error Code 1: Cuda Runtime (out of "
        "memory)",
        "cuda_oom",
    ),
    (
        "2024-05-01 10:00:00.123: E tensorflow/stream_executor/cuda/cuda_blas.cc:232] failed to "
        "create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED",
        "cublas_alloc",
    ),
    (
        "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: Failed to execute XLA Runtime executable: "
        "run time error: custom call 'xla.gpu.func.launch' failed: Failed to launch CUDA kernel: "
        "add: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered.",
        "cuda_illegal",
    ),
    (
        "thrust::system::system_error: parallel_for failed: cudaErrorIllegalAddress: an illegal "
        "memory access was encountered",
        "cuda_illegal",
    ),
    (
        "RuntimeError: cuda runtime error (59) : device-side assert triggered at x.cu:2",
        "cuda_assert",
    ),
    (
        "  Warning  Failed     12s (x3 over 40s)  kubelet  Error: failed to create containerd "
        "task: failed to create shim task: OCI runtime create failed: runc create failed: "
        "nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown",
        "ctk_nvml",
    ),
    (
        'time="2024-05-01T10:00:00Z" level=error msg="Handler for POST returned error: could not '
        'select device driver \\"\\" with capabilities: [[gpu]]"',
        "ctk_select",
    ),
    (
        "May  1 10:00:00 n3 slurmstepd[4711]: error: Detected 1 oom_kill event in StepId=9.0.",
        "slurm_oom",
    ),
    ("srun: error: Orion-01-01: task 4: Out Of Memory", "slurm_oom"),
    (
        "numba.cuda.cudadrv.driver.CudaAPIError: [700] Call to cuMemcpyDtoH results in X",
        "cuda_illegal",
    ),
)


@pytest.mark.parametrize(("line", "known"), LIKE, ids=lambda value: value[:60])
def test_programs_say_the_same_in_their_own_ways(line, known):
    """Lines of the form that TensorFlow, JAX, TensorRT, Thrust, Slurm, Docker ... give a text."""
    found = text_of(line)
    assert found is not None
    assert found[0] == known


@given(st.text(max_size=200), st.sampled_from([fact.example for fact in FACTS]), st.integers(0, 99))
def test_no_line_is_too_strange(noise, example, at):
    """Whatever stands in a line, or cuts one in two, is read without a fault."""
    for line in (noise, noise + example, example[:at] + noise + example[at:]):
        for one in line.splitlines():
            statement = statement_of(one)
            assert statement is None or match(statement) is None or statement.text


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("NVML: Driver/library version mismatch", "DriverMismatch"),
        (
            "RuntimeError: Failed to initialize NVML: Driver/library version mismatch",
            "DriverMismatch",
        ),
        ("NVML ERROR_LIBRARY_NOT_FOUND", "ContainerLostGpu"),
        (
            "2024/03/01 10:00:00 Failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND",
            "ContainerLostGpu",
        ),
        (
            "E0301 10:00:00.123456       1 factory.go:115] Failed to initialize NVML: "
            "ERROR_LIBRARY_NOT_FOUND.",
            "ContainerLostGpu",
        ),
        (
            'time="2024-03-01T10:00:00Z" level=error msg="failed to initialize NVML: '
            'ERROR_LIBRARY_NOT_FOUND"',
            "ContainerLostGpu",
        ),
        (
            "/usr/bin/dcgm-exporter: error while loading shared libraries: libnvidia-ml.so.1: "
            "cannot open shared object file: No such file or directory",
            "ContainerLostGpu",
        ),
        (
            "OSError: libnvidia-ml.so.1: cannot open shared object file: No such file or directory",
            "ContainerLostGpu",
        ),
    ],
)
def test_nvml_that_cannot_be_used_is_told_in_many_words(line, kind):
    """NVIDIA's tools, go-nvml, the loader and Python say the same, each in its own way."""
    found = text_of(line)
    fact = None if found is None else text_fact(found[0])
    assert fact is not None
    assert fact.kind == kind


@pytest.mark.parametrize(
    "line",
    [
        "see nvml.go: ERROR_LIBRARY_NOT_FOUND is returned when the library is missing",
        'level=info msg="failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND"',
        "NVML library version: 570.133",
    ],
)
def test_what_is_said_of_nvml_otherwise_is_nothing(line):
    """Explanations, and what is information to whoever says it."""
    assert text_of(line) is None
