"""Reading a node from NVML: one GPU's trouble stays its own, and nothing false gets in."""

from dataclasses import fields
from types import SimpleNamespace

import pytest

from gputui.model import GpuSample
from gputui.silence import DRIVER
from gputui.sources.nvml import NvmlReader
from gputui.sources.reasons import is_failure

LOST, RESET, UNKNOWN = 15, 16, 999


def read(nvml, times=1, **options):
    reader = NvmlReader(nvml, host="n0", **options)
    for second in range(times):
        sample = reader.read(1000.0 + second)
    return sample


def test_a_healthy_node_is_read_in_full(nvml):
    """Every reading has its own value, in the units of its name."""
    sample = read(nvml)
    assert (sample.host, sample.driver, sample.cuda, sample.gpu_count, sample.error) == (
        "n0", "570.124.06", "12.8", 2, None,
    )  # fmt: skip
    gpu = sample.gpus[1]
    assert (gpu.index, gpu.uuid, gpu.bus_id) == (1, "GPU-00000001", "0000:11:00")
    assert (gpu.utilization_percent, gpu.memory_utilization_percent) == (93, 40)
    assert (gpu.memory_used_bytes, gpu.memory_total_bytes) == (60 << 30, 80 << 30)
    assert (gpu.power_mw, gpu.power_limit_mw, gpu.clock_reasons) == (641_000, 700_000, 4)


@pytest.mark.parametrize("fault", ["healthy", "lost", "lost at lookup", "no fan", "reset"])
def test_whatever_is_missing_says_why(nvml, fault):
    """A reading is a value or has its reason beside it, never neither and never both."""
    gpu = nvml.gpus[0]
    gpu.code = {"lost": LOST, "reset": RESET}.get(fault, 0)
    gpu.lookup = UNKNOWN if fault == "lost at lookup" else 0
    gpu.fails = {"nvmlDeviceGetFanSpeed": 3} if fault == "no fan" else {}
    for sample in (read(nvml), read(nvml, times=3)):
        for one in sample.gpus:
            missing = {
                field.name for field in fields(GpuSample) if getattr(one, field.name) is None
            }
            assert missing == set(one.missing)


def test_a_gpu_lost_while_held_keeps_its_name_and_the_other_its_readings(nvml):
    """A lost GPU is its code and who it was; its neighbour does not notice."""
    reader = NvmlReader(nvml, host="n0")
    reader.read(1.0)
    nvml.gpus[0].code = LOST
    lost, well = reader.read(2.0).gpus
    assert (lost.return_code, lost.uuid, lost.bus_id) == (LOST, "GPU-00000000", "0000:10:00")
    assert (lost.power_mw, lost.missing["power_mw"]) == (None, "GPU is lost")
    assert (well.return_code, well.power_mw) == (0, 641_000)
    nvml.gpus[0].lookup = UNKNOWN
    assert reader.read(3.0).gpus[0].return_code == UNKNOWN
    nvml.gpus[0].code = nvml.gpus[0].lookup = 0
    back = reader.read(4.0).gpus[0]
    assert (back.return_code, back.power_mw) == (0, 641_000)


def test_a_gpu_that_only_still_knows_its_name_is_lost(nvml):
    """Some drivers answer identity from memory after the GPU is gone."""
    reader = NvmlReader(nvml)
    reader.read(1.0)
    gpu = nvml.gpus[0]
    gpu.code = LOST
    gpu.fails = dict.fromkeys(("nvmlDeviceGetUUID", "nvmlDeviceGetName", "nvmlDeviceGetPciInfo"), 0)
    for second in range(2, 5):
        assert reader.read(second).gpus[0].return_code == LOST


def test_a_gpu_that_is_lost_before_the_start_is_a_row_with_its_code(nvml):
    """A handle that cannot be had is told, not left out."""
    nvml.gpus[0].lookup = UNKNOWN
    lost, well = read(nvml).gpus
    assert (lost.index, lost.return_code, lost.uuid) == (0, UNKNOWN, None)
    assert lost.missing["uuid"] == "unknown error"
    assert well.return_code == 0


def test_a_reset_is_needed_even_while_most_readings_still_work(nvml):
    """One reading that says "requires reset" speaks for the GPU; the others still count."""
    nvml.gpus[0].fails = {"nvmlDeviceGetUtilizationRates": RESET}
    gpu = read(nvml).gpus[0]
    assert (gpu.return_code, gpu.power_mw) == (RESET, 641_000)
    assert gpu.missing["utilization_percent"] == "GPU requires a reset"


@pytest.mark.parametrize(
    ("function", "value", "field", "reason"),
    [
        ("nvmlDeviceGetPowerUsage", 0xFFFFFFFF, "power_mw", "not available"),
        ("nvmlDeviceGetTotalEnergyConsumption", 2**64 - 1, "energy_mj", "not available"),
        ("nvmlDeviceGetTemperature", 4_000, "temperature_c", "garbage: 4000"),
        ("nvmlDeviceGetPerformanceState", 32, "performance_state", "not available"),
        ("nvmlDeviceGetUtilizationRates", SimpleNamespace(gpu=9_000, memory=1),
         "utilization_percent", "garbage: 9000"),
        ("nvmlDeviceGetMemoryInfo", SimpleNamespace(used=2, total=1, reserved=0),
         "memory_used_bytes", "garbage: 2 of 1 bytes used"),
    ],
)  # fmt: skip
def test_marks_and_garbage_do_not_get_in(nvml, function, value, field, reason):
    """NVML's mark for "no value", and values that cannot be, are missing with their reason."""
    nvml.gpus[0].values[function] = value
    gpu = read(nvml).gpus[0]
    assert (getattr(gpu, field), gpu.missing[field]) == (None, reason)


def test_a_name_that_is_not_utf8_is_missing_and_nothing_else_is(nvml):
    """The binding raises on such a name; the GPU is read all the same."""
    error = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad")
    nvml.gpus[0].fails = {"nvmlDeviceGetName": error}
    gpu = read(nvml).gpus[0]
    assert (gpu.name, gpu.missing["name"], gpu.power_mw) == (None, "garbage: not UTF-8", 641_000)


def test_a_bug_in_the_binding_costs_one_reading(nvml):
    """Whatever a call raises is that reading's reason."""
    nvml.gpus[0].fails = {"nvmlDeviceGetFanSpeed": TypeError("bad argument")}
    gpu = read(nvml).gpus[0]
    assert gpu.missing["fan_percent"] == "TypeError: bad argument"
    assert {why for name, why in gpu.missing.items() if name != "fan_percent"} == {
        "not measured yet"
    }


def test_an_older_driver_is_asked_the_older_way(nvml):
    """Where the second version of the memory call is unknown, the first one serves."""

    def memory(gpu, version=None):
        if version is not None:
            raise nvml.NVMLError(13)
        return SimpleNamespace(used=1, total=2)

    nvml.nvmlDeviceGetMemoryInfo = memory
    gpu = read(nvml, times=2).gpus[0]
    assert (gpu.memory_used_bytes, gpu.memory_total_bytes) == (1, 2)
    assert gpu.missing["memory_reserved_bytes"] == "not in this driver's library"


def test_only_failures_degrade():
    """What does not exist on this GPU is no failure; what broke is."""
    assert not is_failure("not supported")
    assert not is_failure("no permission")
    assert is_failure("unknown error")
    assert is_failure("garbage: 9000")


def test_a_driver_that_is_not_there_is_told_in_words_and_tried_again(nvml):
    """Each reading tries anew, and finds the driver when it is back."""
    nvml.init_code = 9
    reader = NvmlReader(nvml, host="n0")
    sample = reader.read(1.0)
    assert (sample.gpus, sample.gpu_count) == ((), 0)
    assert "driver is not loaded" in sample.error
    assert "modprobe nvidia" in sample.error
    nvml.init_code = 0
    assert [gpu.return_code for gpu in reader.read(2.0).gpus] == [0, 0]
    nvml.init_code = 9
    assert reader.read(3.0).error
    nvml.init_code = 0
    assert [gpu.power_mw for gpu in reader.read(4.0).gpus] == [641_000, 641_000]


@pytest.mark.parametrize(
    ("code", "words"),
    [(12, "tried libnvidia-ml.so.1"), (18, "different versions"), (4, "no permission"),
     (999, "restart the container"), (77, "NVML error 77")],
)  # fmt: skip
def test_each_driver_trouble_says_what_to_do(nvml, code, words):
    """The message has NVML's code or library, the meaning and the next step."""
    nvml.init_code = code
    assert words in read(nvml).error


def test_no_gpus_at_all_is_an_error_in_words(nvml):
    """A loaded driver without GPUs is not a healthy node."""
    nvml.gpus = []
    assert "counts no GPUs" in read(nvml).error


def test_nvml_is_initialised_anew_when_every_gpu_answers_unknown_error(nvml):
    """A container that lost its devices recovers without a restart of the monitor."""
    reader = NvmlReader(nvml)
    reader.read(1.0)
    for gpu in nvml.gpus:
        gpu.code = gpu.lookup = UNKNOWN
    reader.read(2.0)
    for gpu in nvml.gpus:
        gpu.code = gpu.lookup = 0
    assert [gpu.return_code for gpu in reader.read(3.0).gpus] == [0, 0]
    assert nvml.inits == 2


def test_a_container_that_lost_its_devices_is_told_as_such(nvml):
    """Every call fails with "unknown error", and NVML cannot be initialised any more."""
    reader = NvmlReader(nvml)
    reader.read(1.0)
    for gpu in nvml.gpus:
        gpu.code = gpu.lookup = UNKNOWN
    nvml.init_code = UNKNOWN
    sample = reader.read(2.0)
    assert (sample.gpus, sample.error_code) == ((), UNKNOWN)
    assert "restart the container" in sample.error


def test_the_only_gpu_of_a_node_is_lost_not_the_driver(nvml):
    """NVML can be initialised anew and still counts it: it is that GPU that does not answer."""
    nvml.gpus = nvml.gpus[:1]
    reader = NvmlReader(nvml)
    reader.read(1.0)
    nvml.gpus[0].code = nvml.gpus[0].lookup = UNKNOWN
    for second in range(2, 9):
        sample = reader.read(float(second))
        assert (sample.error, [gpu.return_code for gpu in sample.gpus]) == (None, [UNKNOWN])
    assert nvml.inits == 2


@pytest.mark.parametrize(("count", "words"), [(1, "1 NVIDIA GPU is"), (3, "3 NVIDIA GPUs are")])
def test_without_a_driver_the_bus_says_how_many_gpus_there_are(nvml, tmp_path, count, words):
    """Whether to look for a driver or for a GPU is the first thing to know."""
    for number in range(count):
        device = tmp_path / f"sys/bus/pci/devices/0000:{number:02x}:00.0"
        device.mkdir(parents=True)
        (device / "vendor").write_text("0x10de")
        (device / "class").write_text("0x030200")
    nvml.init_code = 9
    sample = read(nvml, root=tmp_path)
    assert f"{words} on the PCI bus." in sample.error
    assert len(sample.on_bus) == count


def test_pcie_is_measured_apart_from_the_fast_readings(nvml):
    """The two calls of 20 ms are never in the way of a sample, and come last."""
    reader = NvmlReader(nvml)
    assert reader.read(1.0).gpus[0].missing["pcie_rx_bytes_per_s"] == "not measured yet"
    assert not [name for name, _ in nvml.calls if name == "nvmlDeviceGetPcieThroughput"]
    while reader.read_slow():
        pass
    assert {name for name, _ in nvml.calls[-4:]} == {"nvmlDeviceGetPcieThroughput"}
    gpus = reader.read(2.0).gpus
    assert [gpu.pcie_rx_bytes_per_s for gpu in gpus] == [1_024_000, 1_024_000]
    assert not gpus[0].missing


def test_slow_readings_are_asked_for_less_often(nvml):
    """Thresholds and limits do not change every second, and cost as much as what does."""
    reader = NvmlReader(nvml)
    for second in range(20):
        reader.read(second)
    asked = [name for name, index in nvml.calls if index == 0]
    assert asked.count("nvmlDeviceGetPowerUsage") == 20
    assert asked.count("nvmlDeviceGetFanSpeed") <= 5
    assert asked.count("nvmlDeviceGetMaxClockInfo") <= 2


def test_processes_of_both_kinds_are_merged_with_their_share(nvml):
    """A process in both lists is one row; memory that NVML does not know is None, not 16 EiB."""
    gpu = nvml.gpus[1]
    gpu.compute = [(4001, 5 << 30), (4002, 2**64 - 1)]
    gpu.graphics = [(4001, 5 << 30), (4003, None), (0, 1), (2**31, 1)]
    now_us = 1000 * 1_000_000
    gpu.shares = [
        (4001, now_us, 55), (4001, now_us - 10, 10), (4002, now_us, 101), (9, now_us, 7),
    ]  # fmt: skip
    rows = {row.pid: row for row in read(nvml).processes}
    assert sorted(rows) == [4001, 4002, 4003]
    assert (rows[4001].kind, rows[4001].memory_bytes, rows[4001].sm_percent, rows[4001].gpu) == (
        "compute", 5 << 30, 55, 1,
    )  # fmt: skip
    assert (rows[4002].memory_bytes, rows[4002].sm_percent) == (None, None)
    assert rows[4003].kind == "graphics"


def test_a_share_stands_for_a_few_seconds_when_nothing_new_came(nvml):
    """NVML gives out each sample once; between two of them the last one counts for a while."""
    nvml.gpus[0].compute = [(4001, 1)]
    nvml.gpus[0].shares = [(4001, 100, 55)]
    reader = NvmlReader(nvml)
    assert [reader.read(second).processes[0].sm_percent for second in (0, 4, 6)] == [55, 55, None]


def test_a_skipped_gpu_is_never_asked(nvml):
    """A GPU that is suspected of blocking its callers is left alone."""
    sample = read(nvml, skip=frozenset({0}))
    assert [gpu.index for gpu in sample.gpus] == [1]
    assert not [name for name, index in nvml.calls if index == 0]


def test_who_is_asked_is_known_before_the_call(nvml):
    """If a call never returns, what was said last names the suspect."""
    said = []
    read(nvml, asking=said.append)
    assert said == [DRIVER, 0, 1, None]
