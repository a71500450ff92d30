"""nvidia-ml-py, unmodified, over the library: what Python programs see."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("pynvml")

PROGRAM = """
import ctypes, json, pynvml as n
n.nvmlInit()
gpus = [n.nvmlDeviceGetHandleByIndex(i) for i in range(n.nvmlDeviceGetCount()) if i != 7]
def code(call, *arguments):
    try:
        return call(*arguments)
    except n.NVMLError as error:
        return error.value
out = {
    "count": n.nvmlDeviceGetCount(),
    "name": n.nvmlDeviceGetName(gpus[0]),
    "lost": code(n.nvmlDeviceGetHandleByIndex, 7),
    "bad": code(n.nvmlDeviceGetHandleByIndex, 99),
    "fan": code(n.nvmlDeviceGetFanSpeed, gpus[0]),
    "used": n.nvmlDeviceGetMemoryInfo(gpus[0], version=n.nvmlMemory_v2).used >> 30,
    "temperature": n.nvmlDeviceGetTemperatureV(gpus[0], 0),
    "pids": [p.pid for p in n.nvmlDeviceGetComputeRunningProcesses(gpus[0])],
    "idle": n.nvmlDeviceGetComputeRunningProcesses(gpus[1]),
    "instance": n.nvmlDeviceGetComputeRunningProcesses(gpus[0])[0].gpuInstanceId,
    "sm": [s.smUtil for s in n.nvmlDeviceGetProcessUtilization(gpus[0], 0)],
    "none": code(n.nvmlDeviceGetProcessUtilization, gpus[0], 9999),
    "clocks": n.nvmlDeviceGetSupportedMemoryClocks(gpus[0]),
    "fields": [(v.nvmlReturn, v.value.ullVal) for v in
               n.nvmlDeviceGetFieldValues(gpus[0], [82, (138, 3), 2000])],
}
# As PyTorch binds it: the literal name without a suffix, and records of 16 bytes.
class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("memory", ctypes.c_ulonglong)]
lib, count, list_ = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_uint(1024), (Process * 1024)()
lib.nvmlDeviceGetComputeRunningProcesses(gpus[0], ctypes.byref(count), list_)
out["torch"] = [(p.pid, p.memory >> 30) for p in list_[:count.value]]
print(json.dumps(out))
"""


def test_the_python_binding_reads_the_node(lasting) -> None:
    """Values, lists, errors and NVML's missing values come through the real binding."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(lasting.directory)}
    printed = subprocess.check_output(
        [sys.executable, "-c", PROGRAM], text=True, env=environment, timeout=60
    )
    assert json.loads(printed) == {
        "count": 20,
        "name": "NVIDIA H100 80GB HBM3",
        "lost": 999,
        "bad": 2,
        "fan": 3,
        "used": 9,
        "temperature": 55,
        "pids": [101, 102, 103],
        "idle": [],
        "instance": 0xFFFFFFFF,
        "sm": [1, 1, 1],
        "none": 6,
        "clocks": [2619, 1593],
        "fields": [[0, 82000], [0, 138003], [3, 2000000]],
        "torch": [[101, 101], [102, 102], [103, 103]],
    }
