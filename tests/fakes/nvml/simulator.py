"""A simulator for tests of the carrier: a small, made-up node, steered by lines on stdin.

Not collected by pytest; run as ``simulator.py DIRECTORY``. Every line is answered by ``done``:
``init CODE``, ``publish N``, ``storm N`` (as fast as it can), ``delay MICROSECONDS`` and ``heal``
(of nvmlDeviceGetTemperature), ``event GPU CODE``, ``sets`` (how many event sets there are),
``fork``, ``quit``. Numbers here are repeated in ``client.c``, which knows this node and nothing of
the library.

Event sets are the real ones; nvmlDeviceSetComputeMode announces an Xid of the mode's number.
"""

from __future__ import annotations

import os
import selectors
import struct
import sys
import time
from pathlib import Path

from fakes.driver.events import EventType
from fakes.node import Node
from fakes.nvml.answer import Answer, Call, answer
from fakes.nvml.codes import Code
from fakes.nvml.endpoint import Endpoint
from fakes.profile import load_profile

GPUS = 20
LOST = 7
NAME = b"NVIDIA H100 80GB HBM3"
UUID = "GPU-00000000-0000-0000-0000-{:012d}"
PROCESSES = {0: (101, 102, 103), 1: ()}
GIB = 1 << 30


def u32(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def u64(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}Q", *values)


class World:
    """What the answers depend on."""

    def __init__(self) -> None:
        self.power_limit_mw = 700_000
        self.temperature_delay_us = 0
        self.node = Node("n0", load_profile("h100-sxm"), GPUS)

    def answer(self, call: Call, at_us: int) -> Answer:
        name, gpu = call.function, call.device
        if gpu is not None and (gpu >= GPUS or gpu == LOST):
            return Answer(Code.INVALID_ARGUMENT if gpu >= GPUS else Code.GPU_IS_LOST)
        if name.startswith("nvmlEventSet") or name == "nvmlDeviceRegisterEvents":
            return answer(self.node, call, at_us)
        if name == "nvmlDeviceSetComputeMode":
            self.announce(gpu, call.inputs[0], at_us)
            return Answer(0)
        if name == "nvmlDeviceGetTemperature":
            return Answer(0, (u32(40 + gpu),), self.temperature_delay_us)
        if name == "nvmlDeviceSetPowerManagementLimit":
            self.power_limit_mw = call.inputs[0]
            return Answer(0)
        if name == "nvmlDeviceGetComputeMode":
            raise RuntimeError("a mistake in an answer function")
        outputs = self._outputs(name, gpu, call.inputs, at_us)
        if outputs is None:
            return Answer(Code.NOT_SUPPORTED)
        return outputs if isinstance(outputs, Answer) else Answer(0, outputs)

    def announce(self, gpu: int, code: int, at_us: int) -> None:
        self.node.driver_events.announce(at_us, gpu, EventType.XID, code)

    def _outputs(self, name, gpu, inputs, at_us):
        pids = PROCESSES.get(gpu, (200 + (gpu or 0),))
        match name:
            case "nvmlDeviceGetCount_v2" | "nvmlDeviceGetCount":
                return (u32(GPUS),)
            case "nvmlDeviceGetHandleByIndex_v2" | "nvmlDeviceGetHandleByIndex":
                if inputs[0] == LOST:
                    return Answer(Code.UNKNOWN)
                return (u64(inputs[0]),) if inputs[0] < GPUS else Answer(Code.INVALID_ARGUMENT)
            case "nvmlDeviceGetHandleByUUID":
                known = {UUID.format(i).encode(): i for i in range(GPUS)}
                found = known.get(inputs[0])
                return Answer(Code.NOT_FOUND) if found is None else (u64(found),)
            case "nvmlDeviceGetName":
                return (NAME,)
            case "nvmlDeviceGetGspFirmwareVersion":
                return (b"570.00",)
            case "nvmlDeviceGetPowerUsage":
                return (u32(at_us & 0xFFFFFFFF),)
            case "nvmlDeviceGetTotalEnergyConsumption":
                return (u64(at_us),)
            case "nvmlDeviceGetPowerManagementLimit":
                return (u32(self.power_limit_mw),)
            case "nvmlDeviceGetUtilizationRates":
                return (u32(90 + gpu, 40),)
            case "nvmlDeviceGetEccMode":
                return (u32(1), u32(0))
            case "nvmlDeviceGetDriverModel_v2":
                return (u32(1), u32(2))
            case "nvmlDeviceGetP2PStatus":
                return (u32(gpu * 10000 + inputs[0] * 100 + inputs[1]),)
            case "nvmlDeviceGetMemoryInfo_v2":
                return (u32(0x2000028, 0) + u64(80 * GIB, 1 * GIB, 70 * GIB, 9 * GIB),)
            case "nvmlDeviceGetTemperatureV":
                return (u32(inputs[0][0], inputs[0][1], 55),)
            case "nvmlDeviceGetGpuFabricInfoV":
                size = inputs[0][0] & 0xFFFFFF
                return (u32(inputs[0][0]) + bytes(range(16)) + b"\x11" * (size - 20),)
            case "nvmlDeviceGetPciInfo" | "nvmlDeviceGetPciInfo_v2" | "nvmlDeviceGetPciInfo_v3":
                whole = b"0000:3B:00.0".ljust(16, b"\0") + u32(0, 0x3B, 0, 0x233010DE, 7)
                whole += b"00000000:3B:00.0".ljust(32, b"\0")
                return (whole[: {"o": 32, "2": 36, "3": 68}[name[-1]]],)
            case name if name.endswith("RunningProcesses"):
                return (b"".join(u32(p, 0) + u64(p * GIB) for p in pids),)
            case name if name.endswith(("RunningProcesses_v2", "RunningProcesses_v3")):
                return (b"".join(u32(p, 0) + u64(p * GIB) + u32(-1 & 0xFFFFFFFF, 5) for p in pids),)
            case "nvmlDeviceGetRunningProcessDetailList":
                mode = inputs[0][1]
                return (b"".join(u32(p, 0) + u64(p * GIB) + u32(mode, 5) + u64(0) for p in pids),)
            case "nvmlDeviceGetProcessUtilization":
                if inputs[0] >= 5000:
                    return Answer(Code.NOT_FOUND)
                return (b"".join(u32(p, 0) + u64(5000) + u32(1, 2, 3, 4) for p in pids),)
            case "nvmlDeviceGetProcessesUtilizationInfo":
                return (b"".join(u64(5000) + u32(p, 1, 2, 3, 4, 5, 6, 0) for p in pids),)
            case "nvmlDeviceGetSupportedMemoryClocks":
                return (u32(2619, 1593),)
            case "nvmlDeviceGetSupportedGraphicsClocks":
                return (u32(*range(1980, 1980 - 5 * 15, -15)),)
            case "nvmlDeviceGetRetiredPages":
                return (u64(0xA000, 0xB000),)
            case "nvmlDeviceGetFBCSessions":
                return (bytes(48) * 3,)
            case "nvmlDeviceGetAccountingPids":
                return (u32(at_us & 0xFFFFFFFF) * 1000,)
            case "nvmlDeviceGetSamples":
                return (u32(1), b"".join(u64(1000 + i, i) for i in range(10)))
            case "nvmlDeviceGetRetiredPages_v2":
                return (u64(0xA000, 0xB000), u64(11, 12))
            case "nvmlDeviceGetEncoderSessions":
                return (bytes(32) * 2,)
            case "nvmlDeviceGetTopologyNearestGpus":
                return (u64(*(i for i in range(4) if i != gpu)),)
            case "nvmlDeviceGetCpuAffinity":
                return (u64(0xFF, 0xFF00),)
            case "nvmlDeviceGetSupportedPerformanceStates":
                return (u32(0, 8),)
            case "nvmlDeviceGetFieldValues":
                buffer, size = inputs[0], 40
                return (
                    b"".join(
                        _field(buffer[i : i + size], at_us) for i in range(0, len(buffer), size)
                    ),
                )
        return None


def _field(record: bytes, at_us: int) -> bytes:
    field, scope = struct.unpack_from("<II", record)
    code = 0 if field < 1000 else int(Code.NOT_SUPPORTED)
    return u32(field, scope) + u64(at_us, 0) + u32(3, code) + u64(field * 1000 + scope)


def main(directory: Path) -> None:
    world = World()
    began = time.monotonic_ns()

    def now_us() -> int:
        return (time.monotonic_ns() - began) // 1000

    endpoint = Endpoint(directory, world.answer, now_us=now_us)
    selector = selectors.DefaultSelector()
    endpoint.register(selector)

    def command() -> None:
        # Unbuffered, so that no second line hides from the selector.
        words = sys.stdin.buffer.raw.readline().split()  # type: ignore[union-attr]
        if not words or words[0] == b"quit":
            raise SystemExit
        verb, *numbers = words
        number = int(numbers[0]) if numbers else 0
        if verb == b"init":
            endpoint.set_init_code(Code(number))
        elif verb in (b"publish", b"storm"):
            for _ in range(number):
                endpoint.publish(now_us())
                if verb == b"storm":
                    for key, _ in selector.select(0):
                        if key.fileobj is not sys.stdin:
                            key.data()
        elif verb == b"delay":
            world.temperature_delay_us = number
        elif verb == b"heal":
            world.temperature_delay_us = 0
        elif verb == b"fork":
            # A child that outlives the simulator, with a copy of all it has open, until the test
            # closes the pipe.
            if os.fork() == 0:
                while os.read(0, 1):
                    pass
                os._exit(0)
        elif verb == b"event":
            world.announce(number, int(numbers[1]), now_us())
        endpoint.publish(now_us())
        sets = world.node.driver_events.set_count
        print("done", sets if verb == b"sets" else endpoint.generation, flush=True)

    selector.register(sys.stdin, selectors.EVENT_READ, command)
    print("ready", flush=True)
    try:
        while True:
            for key, _ in selector.select(0.05):
                key.data()
            endpoint.publish(now_us(), happened=False)
    finally:
        endpoint.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
