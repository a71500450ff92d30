"""``pmon``: processes on GPUs, a line each, again and again (widths of driver 590)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from fakes.commands.nvidia_smi.options import Usage
from fakes.commands.nvidia_smi.queries.compute_apps import App, all_apps
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.selection import Selection
from fakes.commands.nvidia_smi.session import Session
from fakes.commands.nvidia_smi.subcommands.scrolling import Lines, scroll

_HELP = """\
nvidia-smi pmon [-i ID] [-d SECONDS] [-c COUNT] [-s um] [-o DT]

    -s   u utilization, m memory; u if not said
    -o   D the date, T the time before each line
"""
_USE = ("sm", "mem", "enc", "dec", "jpg", "ofa")
_NAME_WIDTH = 15


def run(argv: Sequence[str], session: Session) -> int:
    """Print lines until there are enough."""
    return scroll("pmon", argv, session, _HELP, "u", _made)


def _made(letters: str) -> tuple[tuple[str, str], Lines]:
    if not letters or set(letters) - set("um"):
        raise Usage(f"\"{letters}\" are not metrics. Please run 'nvidia-smi pmon -h'.")
    use, memory = "u" in letters, "m" in letters
    names, units = "# gpu         pid   type", "# Idx           #    C/G"
    if memory:
        names, units = f"{names}     fb   ccpm", f"{units}     MB     MB"
    if use:
        names += "".join(f"{name:>7}" for name in _USE)
        units += "      %" * len(_USE)

    def lines(selection: Selection, ids: Sequence[str]) -> list[str]:
        return [
            line for gpu in selection.gpus(ids) for line in _of_gpu(gpu, use=use, memory=memory)
        ]

    return (f"{names}    command ", f"{units}    name "), lines


def _of_gpu(gpu: Gpu, *, use: bool, memory: bool) -> list[str]:
    apps = all_apps(gpu)
    if not apps:
        dashes = "      -" * ((2 if memory else 0) + (len(_USE) if use else 0))
        return [f"{gpu.index:>5}          -     -{dashes}    {'-':<{_NAME_WIDTH}}"]
    samples = _samples(gpu) if use else {}
    lines = []
    for app in apps:
        line = f"{gpu.index:>5}{app.pid:>11}{app.kind:>6}"
        if memory:
            line += f"{_memory(app):>7}{0:>7}"
        if use:
            line += "".join(f"{cell:>7}" for cell in _cells(samples.get(app.pid)))
        lines.append(f"{line}    {_name(app):<{_NAME_WIDTH}}")
    return lines


def _samples(gpu: Gpu) -> dict[int, Any]:
    """The last sample of each process."""
    try:
        taken = gpu.get("nvmlDeviceGetProcessUtilization", 0)
    except Missing:
        return {}
    return {sample.pid: sample for sample in sorted(taken, key=lambda one: int(one.timeStamp))}


def _cells(sample: Any) -> list[str]:
    if sample is None:
        return ["-"] * len(_USE)
    used = (sample.smUtil, sample.memUtil, sample.encUtil, sample.decUtil)
    return [str(share) if share else "-" for share in used] + ["-", "-"]


def _memory(app: App) -> str:
    try:
        return app.used_mib
    except Missing:
        return "-"


def _name(app: App) -> str:
    try:
        return PurePath(app.name).name[:_NAME_WIDTH]
    except Missing:
        return "-"
