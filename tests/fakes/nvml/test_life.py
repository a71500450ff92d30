"""The node's life as programs notice it: born, mismatched, killed, born again."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.nvml.codes import Code

SOON_S = 5.0
"""A generous bound for "at once" on a busy machine."""


class Nvml:
    """A node's library, opened in this process."""

    def __init__(self, library: Path) -> None:
        self.dll = ctypes.CDLL(str(library))

    def init(self) -> int:
        return self.dll.nvmlInit_v2()

    def shutdown(self) -> int:
        return self.dll.nvmlShutdown()

    def gpu(self, index: int) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        code = self.dll.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle))
        assert code == 0, code
        return handle

    def temperature(self, handle: ctypes.c_void_p) -> tuple[int, int]:
        value = ctypes.c_uint()
        code = self.dll.nvmlDeviceGetTemperature(handle, 0, ctypes.byref(value))
        return code, value.value

    def wait(self, timeout_ms: int) -> int:
        event_set = ctypes.c_uint64()
        assert self.dll.nvmlEventSetCreate(ctypes.byref(event_set)) == 0
        data = (ctypes.c_char * 32)()
        return self.dll.nvmlEventSetWait_v2(event_set, data, timeout_ms)


@pytest.fixture
def nvml(simulator) -> Nvml:
    opened = Nvml(simulator.library)
    assert opened.init() == 0
    return opened


@pytest.mark.parametrize(
    "code",
    [Code.DRIVER_NOT_LOADED, Code.LIB_RM_VERSION_MISMATCH, Code.NO_PERMISSION, Code.UNKNOWN],
)
def test_init_fails_as_it_is_told(simulator, code: Code) -> None:
    """An init error holds for programs that start, until it is taken back."""
    early = Nvml(simulator.library)
    assert early.init() == 0
    simulator.tell(f"init {code.value}")
    program = (
        "import ctypes,sys; n=ctypes.CDLL(sys.argv[1]); "
        "print(n.nvmlInit_v2(), n.nvmlDeviceGetCount_v2(None), n.nvmlShutdown())"
    )
    command = [sys.executable, "-c", program, simulator.library]
    assert subprocess.check_output(command, text=True).split() == [str(int(code)), "1", "1"]
    assert early.temperature(early.gpu(0)) == (0, 40)
    simulator.tell("init 0")
    assert subprocess.check_output(command, text=True).split() == ["0", "2", "0"]


def test_without_a_node_the_driver_is_not_loaded(
    library: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library with no page in sight behaves like a machine without the driver."""
    monkeypatch.delenv("GPUTUI_FAKE_NODE", raising=False)
    alone = folder / "libnvidia-ml.so.1"
    shutil.copy(library, alone)
    if Path("/run/gputui-node/page").exists():
        pytest.skip("this machine has a node at the fixed place")
    assert Nvml(alone).init() == Code.DRIVER_NOT_LOADED


def test_the_environment_names_a_node(simulator, library: Path, folder: Path) -> None:
    """A library that lies elsewhere finds the node by GPUTUI_FAKE_NODE."""
    alone = folder / "libnvidia-ml.so.1"
    shutil.copy(library, alone)
    program = "import ctypes,sys; print(ctypes.CDLL(sys.argv[1]).nvmlInit_v2())"
    environment = {**os.environ, "GPUTUI_FAKE_NODE": str(simulator.directory)}
    printed = subprocess.check_output(
        [sys.executable, "-c", program, alone], text=True, env=environment
    )
    assert printed.strip() == "0"


def test_several_nodes_live_in_one_process(start: Callable, folder: Path) -> None:
    """Two libraries, each beside its own page, do not mix: killing one leaves the other."""
    first, second = start(folder / "a"), start(folder / "b")
    one, two = Nvml(first.library), Nvml(second.library)
    assert one.init() == two.init() == 0
    assert one.gpu(0).value != two.gpu(0).value
    assert two.temperature(one.gpu(0))[0] == Code.INVALID_ARGUMENT
    first.kill()
    assert one.temperature(one_gpu := ctypes.c_void_p(0))[0] == Code.INVALID_ARGUMENT
    assert one_gpu.value is None
    assert two.temperature(two.gpu(3)) == (0, 43)


@pytest.mark.parametrize("damage", ["magic", "layout", "fingerprint", "short", "empty", "sizes"])
def test_a_page_of_another_version_is_refused(
    simulator, library: Path, folder: Path, damage: str
) -> None:
    """A page that this library cannot read is a mismatch, as between driver and library."""
    other = folder / "other"
    other.mkdir()
    shutil.copy(library, other / "libnvidia-ml.so.1")
    page = bytearray((simulator.directory / "page").read_bytes())
    at, length = {"magic": (0, 8), "layout": (8, 4), "fingerprint": (12, 4), "sizes": (96, 8)}.get(
        damage, (0, 0)
    )
    page[at : at + length] = b"\xfe" * length
    kept = {"short": 5000, "empty": 0}.get(damage, len(page))
    (other / "page").write_bytes(page[:kept])
    assert Nvml(other / "libnvidia-ml.so.1").init() == Code.LIB_RM_VERSION_MISMATCH


def test_a_killed_simulator_is_an_error_at_once(simulator, nvml: Nvml) -> None:
    """After kill -9 the page's readings fail, questions fail, and nvmlInit finds no driver."""
    handle = nvml.gpu(2)
    assert nvml.temperature(handle) == (0, 42)
    time.sleep(0.3)
    assert nvml.temperature(handle) == (0, 42)
    simulator.kill()
    began = time.monotonic()
    assert nvml.temperature(handle)[0] == Code.UNKNOWN
    assert nvml.dll.nvmlEventSetCreate(ctypes.byref(ctypes.c_uint64())) == Code.UNKNOWN
    assert nvml.shutdown() == 0
    assert nvml.init() == Code.DRIVER_NOT_LOADED
    assert time.monotonic() - began < SOON_S


def test_who_waits_for_an_event_is_told_of_the_death(simulator, nvml: Nvml) -> None:
    """A wait of a minute ends with the simulator, not with its time."""
    codes: list[int] = []
    waiter = threading.Thread(target=lambda: codes.append(nvml.wait(60_000)))
    waiter.start()
    time.sleep(0.5)
    assert not codes
    simulator.kill()
    waiter.join(SOON_S)
    assert codes == [Code.UNKNOWN]


def test_a_child_of_the_simulator_does_not_hide_its_death(simulator, nvml: Nvml) -> None:
    """A forked child keeps the sockets open; the simulator's death is noticed all the same."""
    handle = nvml.gpu(0)
    simulator.tell(f"delay {1 << 62}")
    codes: list[int] = []
    stuck = threading.Thread(target=lambda: codes.append(nvml.temperature(handle)[0]))
    stuck.start()
    time.sleep(0.5)
    simulator.tell("fork")
    simulator.kill()
    stuck.join(SOON_S)
    assert codes == [Code.UNKNOWN]
    assert nvml.temperature(handle)[0] == Code.UNKNOWN
    nvml.shutdown()
    assert nvml.init() == Code.DRIVER_NOT_LOADED


def test_a_new_simulator_is_found_after_the_next_init(start: Callable, folder: Path) -> None:
    """As after a driver's reload: old sessions fail, a new nvmlInit works, old handles too."""
    first = start(folder / "node")
    nvml = Nvml(first.library)
    assert nvml.init() == 0
    handle = nvml.gpu(5)
    assert nvml.temperature(handle) == (0, 45)
    first.kill()
    start(folder / "node")
    assert nvml.temperature(handle)[0] == Code.UNKNOWN
    assert nvml.shutdown() == 0
    assert nvml.init() == 0
    assert nvml.temperature(handle) == (0, 45)


def test_an_orderly_end_removes_the_files_and_is_an_error_too(simulator, nvml: Nvml) -> None:
    """``close`` leaves the directory as it was found; programs get an error."""
    handle = nvml.gpu(0)
    simulator.end()
    assert list(simulator.directory.iterdir()) == []
    assert nvml.temperature(handle)[0] == Code.UNKNOWN


def test_a_slow_call_takes_its_time_and_a_hang_ends_when_it_heals(simulator, nvml: Nvml) -> None:
    """A delay holds its caller back, and nobody else; a healed hang releases those it held."""
    handle = nvml.gpu(0)
    simulator.tell("delay 400000")
    began = time.monotonic()
    assert nvml.temperature(handle) == (0, 40)
    assert time.monotonic() - began >= 0.35
    simulator.tell(f"delay {1 << 62}")
    answers: list[tuple[int, int]] = []
    stuck = threading.Thread(target=lambda: answers.append(nvml.temperature(handle)))
    stuck.start()
    power = ctypes.c_uint()
    assert nvml.dll.nvmlDeviceGetPowerUsage(handle, ctypes.byref(power)) == 0
    stuck.join(0.5)
    assert not answers
    simulator.tell("heal")
    stuck.join(SOON_S)
    assert answers == [(0, 40)]


def test_an_event_wakes_who_waits_for_it(simulator, nvml: Nvml) -> None:
    """A wait ends when the event happens; its data has the device's handle."""
    event_set = ctypes.c_uint64()
    nvml.dll.nvmlEventSetCreate(ctypes.byref(event_set))
    nvml.dll.nvmlDeviceRegisterEvents(nvml.gpu(3), ctypes.c_uint64(8), event_set)
    data = (ctypes.c_uint64 * 4)()
    codes: list[int] = []

    def wait() -> None:
        codes.append(nvml.dll.nvmlEventSetWait_v2(event_set, ctypes.byref(data), 60_000))

    waiter = threading.Thread(target=wait)
    waiter.start()
    time.sleep(0.3)
    simulator.tell("event 3 79")
    waiter.join(SOON_S)
    assert codes == [0]
    assert (data[0], data[1], data[2]) == (nvml.gpu(3).value, 8, 79)


def test_where_nothing_may_be_written_the_socket_serves_all(
    simulator, library: Path, folder: Path
) -> None:
    """Without the ``touched`` file (a read-only mount) answers still come, and stay fresh."""
    (simulator.directory / "touched").unlink()
    nvml = Nvml(simulator.library)
    assert nvml.init() == 0
    handle = nvml.gpu(0)
    for _ in range(3):
        assert nvml.temperature(handle) == (0, 40)
        simulator.tell("publish 1")
    energy = [ctypes.c_uint64(), ctypes.c_uint64()]
    for each in energy:
        assert nvml.dll.nvmlDeviceGetTotalEnergyConsumption(handle, ctypes.byref(each)) == 0
        simulator.tell("publish 1")
    assert energy[0].value < energy[1].value
