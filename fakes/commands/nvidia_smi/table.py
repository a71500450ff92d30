"""Without arguments: the table of GPUs, and of the processes on them.

Widths and headings are those of drivers 565 and later. A value that does not exist is N/A; one that
cannot be read is ERR!, which is what health checks look for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TextIO

from fakes.commands.nvidia_smi.fields import BY_NAME
from fakes.commands.nvidia_smi.queries.compute_apps import App, all_apps
from fakes.commands.nvidia_smi.reading import NOT_HERE, Driver, Gpu, Missing

_WIDTH = 89
_RULE = f"+{'-' * _WIDTH}+"
_DOUBLE_RULE = f"|{'=' * _WIDTH}|"
_COLUMNS = (41, 24, 22)
_GPU_RULE = "+" + "+".join("-" * width for width in _COLUMNS) + "+"
_GPU_DOUBLE_RULE = "|" + "+".join("=" * width for width in _COLUMNS) + "|"
_HEADINGS = (
    ("GPU  Name                 Persistence-M", "Bus-Id          Disp.A", "Volatile Uncorr. ECC"),
    ("Fan  Temp   Perf          Pwr:Usage/Cap", "          Memory-Usage", "GPU-Util  Compute M."),
    ("", "", "              MIG M."),
)
_NAME_WIDTH = 27
_PROGRAM_WIDTH = 36
_COMPUTE_MODES = {"Exclusive_Thread": "E. Thread", "Exclusive_Process": "E. Process"}
_UNCORRECTED, _VOLATILE = 1, 0
_NO_INSTANCE = "N/A"


def print_table(driver: Driver, gpus: Sequence[Gpu], out: TextIO) -> None:
    """Print both tables."""
    out.write(f"{driver.date:<31}\n{_RULE}\n")
    title = (
        f"NVIDIA-SMI {driver.version:<23}Driver Version: {driver.version:<15}"
        f"CUDA Version: {driver.cuda_version:<9}"
    )
    out.write(f"| {title}|\n{_GPU_RULE}\n")
    for cells in _HEADINGS:
        out.write(
            _line(*(f" {cell:<{width - 1}}" for cell, width in zip(cells, _COLUMNS, strict=True)))
        )
    out.write(f"{_GPU_DOUBLE_RULE}\n")
    for gpu in gpus:
        _print_gpu(gpu, out)
    _print_apps([app for gpu in gpus for app in all_apps(gpu)], out)


def _print_gpu(gpu: Gpu, out: TextIO) -> None:
    text = _Cells(gpu)
    name = text.of(BY_NAME["name"].read)
    if len(name) > _NAME_WIDTH:
        name = f"{name[: _NAME_WIDTH - 3]}..."
    persistence = text.of(lambda gpu: _on(gpu.get("nvmlDeviceGetPersistenceMode")))
    display = text.of(lambda gpu: _on(gpu.get("nvmlDeviceGetDisplayActive")))
    out.write(
        _line(
            f"{gpu.index:>4}  {name:<{_NAME_WIDTH}}    {persistence:<4}",
            f"   {text.of(lambda gpu: gpu.bus_id):>16} {display:>3} ",
            f"{text.of(_volatile_errors):>21} ",
        )
    )
    fan = text.of(BY_NAME["fan.speed"].read, "%")
    temperature = text.of(BY_NAME["temperature.gpu"].read, "C")
    state = text.of(BY_NAME["pstate"].read)
    power = text.of(lambda gpu: str(gpu.get("nvmlDeviceGetPowerUsage") // 1000), "W")
    limit = text.of(lambda gpu: str(gpu.get("nvmlDeviceGetEnforcedPowerLimit") // 1000), "W")
    used, total = (text.of(BY_NAME[f"memory.{which}"].read, "MiB") for which in ("used", "total"))
    busy = text.of(BY_NAME["utilization.gpu"].read, "%")
    mode = text.of(BY_NAME["compute_mode"].read)
    out.write(
        _line(
            f"{fan:>4}  {temperature:>4}    {state:<4}{power:>14} / {limit:>5} ",
            f"{used:>11} / {total:>9} ",
            f"{busy:>8} {_COMPUTE_MODES.get(mode, mode):>12} ",
        )
    )
    mig = text.of(BY_NAME["mig.mode.current"].read)
    out.write(_line(" " * _COLUMNS[0], " " * _COLUMNS[1], f"{mig:>21} "))
    out.write(f"{_GPU_RULE}\n")


def _print_apps(apps: Sequence[App], out: TextIO) -> None:
    out.write(f"\n{_RULE}\n")
    for heading in (
        "Processes:",
        " GPU   GI   CI              PID   Type   Process name                        GPU Memory",
        "       ID   ID                                                               Usage",
    ):
        out.write(f"| {heading:<{_WIDTH - 1}}|\n")
    out.write(f"{_DOUBLE_RULE}\n")
    if not apps:
        out.write(f"| {' No running processes found':<{_WIDTH - 1}}|\n")
    for app in apps:
        text = _Cells(app.gpu)
        program = text.of(lambda _, app=app: app.name)  # type: ignore[misc]
        if len(program) > _PROGRAM_WIDTH:
            program = f"...{program[3 - _PROGRAM_WIDTH :]}"
        used = text.of(lambda _, app=app: app.used_mib, "MiB")  # type: ignore[misc]
        out.write(
            f"|{app.gpu.index:>5}   {_NO_INSTANCE}  {_NO_INSTANCE} {app.pid:>15}{app.kind:>7}"
            f"   {program:<{_PROGRAM_WIDTH}}{used:>10} |\n"
        )
    out.write(f"{_RULE}\n")


class _Cells:
    """Cells' texts for one GPU."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu

    def of(self, read: Callable[[Gpu], str], unit: str = "") -> str:
        """The value and its unit; N/A or ERR! in its place."""
        try:
            return f"{read(self._gpu)}{unit}"
        except Missing as missing:
            return "N/A" if missing.code in NOT_HERE else "ERR!"


def _volatile_errors(gpu: Gpu) -> str:
    """Uncorrectable errors since the driver was loaded; ``Off`` without ECC."""
    if not gpu.get("nvmlDeviceGetEccMode")[0]:
        return "Off"
    return str(gpu.get("nvmlDeviceGetTotalEccErrors", _UNCORRECTED, _VOLATILE))


def _on(value: int) -> str:
    return "On" if value else "Off"


def _line(*cells: str) -> str:
    return f"|{'|'.join(cells)}|\n"
