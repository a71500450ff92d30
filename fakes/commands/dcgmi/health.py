"""``dcgmi health``: watches on GPUs, and what they have seen."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from fakes.commands.dcgmi import checks
from fakes.commands.dcgmi.checks import Trouble
from fakes.commands.dcgmi.engine import Engine, NotImitated, RefusedError, gpus_of, group_of, read
from fakes.commands.dcgmi.tables import Table, joined
from fakes.hardware.gpu import Gpu
from fakes.system.dcgm import Status

_FLAGS = {
    "-c": "check", "--check": "check", "-f": "fetch", "--fetch": "fetch", "-j": "json",
    "--json": "json", "-h": "help", "--help": "help",
}  # fmt: skip
_VALUES = {
    "-g": "group", "--group": "group", "-s": "set", "--set": "set", "--host": "host",
    "--clear": "clear", "-m": "max-keep-age", "--max-keep-age": "max-keep-age",
    "-u": "update-interval", "--update-interval": "update-interval",
}  # fmt: skip
_HELP = "dcgmi health [-g GROUP] -s a | -c [-j] | -f\n"
_SYSTEMS = {"p": "PCIe", "m": "Memory", "i": "InfoROM", "t": "Thermal", "n": "NVLink"}
_NOT_ENABLED = "Error: Health watches not enabled. Please enable watches. "


def run(argv: Sequence[str], engine: Engine) -> int:
    """Set watches, or tell what they saw."""
    options = read("health", argv, _FLAGS, _VALUES)
    out, group = engine.out, group_of(options)
    if "help" in options or not set(options) - {"group", "host", "json"}:
        out.write(_HELP)
    elif "set" in options:
        if set(options["set"]) - {*_SYSTEMS, "a"}:
            raise RefusedError(f"Error: Invalid health flags: {options['set']}", Status.BADPARAM)
        engine.memory.watched.add(group)
        out.write("Health monitor systems set successfully.\n")
    elif "clear" in options:
        raise NotImitated("health " + " ".join(argv))
    elif "fetch" in options:
        out.write(_watches(group in engine.memory.watched))
    else:
        if group not in engine.memory.watched:
            raise RefusedError(_NOT_ENABLED, Status.GENERIC_ERROR)
        gpus = gpus_of(options, engine)
        found = {gpu.index: list(_seen(gpu, engine)) for gpu in gpus}
        told = _document(found) if "json" in options else _report(found)
        out.write(told)
    return 0


def _seen(gpu: Gpu, engine: Engine) -> Iterator[tuple[str, Trouble]]:
    at_us = engine.world.now_us
    node = engine.node
    if gpu.lost or gpu.reset_required:
        yield from (("GPU", trouble) for trouble in checks.library(node, gpu, at_us))
        return
    yield from (("Memory", trouble) for trouble in checks.pages(node, gpu, at_us))
    for system, check in (("PCIe", checks.pcie), ("Memory", checks.memory)):
        for trouble in check(node, gpu, at_us):
            if trouble.error_id != _ALLOCATION:  # watches look on, and take no memory
                yield "NVLink" if "NvLink" in trouble.text else system, trouble
    if gpu.limit(at_us).value.endswith("heat"):
        text = f"Detected thermal violations for GPU {gpu.index}. Verify the cooling."
        yield "Thermal", Trouble(gpu.index, text, 11)


_ALLOCATION = 40


def _overall(found: dict[int, list[tuple[str, Trouble]]]) -> str:
    troubles = [trouble for each in found.values() for _, trouble in each]
    if any(trouble.isolate for trouble in troubles):
        return "Failure"
    return "Warning" if troubles else "Healthy"


def _word(troubles: Sequence[tuple[str, Trouble]]) -> str:
    return "Failure" if any(trouble.isolate for _, trouble in troubles) else "Warning"


def _report(found: dict[int, list[tuple[str, Trouble]]]) -> str:
    table = Table(27, 58)
    table.rule()
    table.row("Health Monitor Report")
    table.rule("=")
    table.row("Overall Health", _overall(found))
    if any(found.values()):
        table.row("GPU")
    for gpu, troubles in found.items():
        if troubles:
            table.row(f"-> {gpu}", _word(troubles))
            table.row("   -> Errors")
        for system, trouble in troubles:
            table.row(f"      -> {system} system", _word([(system, trouble)]))
            table.row("", trouble.text)
    table.rule()
    return joined(table.lines)


def _document(found: dict[int, list[tuple[str, Trouble]]]) -> str:
    children: dict[str, Any] = {}
    for gpu, troubles in found.items():
        if troubles:
            children[str(gpu)] = {
                "value": _word(troubles),
                "children": {
                    f"{system} system": {
                        "value": _word([(system, trouble)]),
                        "overflow": [trouble.text],
                    }
                    for system, trouble in troubles
                },
            }
    body: dict[str, Any] = {"Overall Health": {"value": _overall(found)}}
    if children:
        body["GPU"] = {"children": children}
    return json.dumps({"header": ["Health Monitor Report"], "body": body}, indent=4) + "\n"


def _watches(on: bool) -> str:
    table = Table(27, 58)
    table.rule()
    table.row("Health Monitor Systems")
    table.rule("=")
    for name in _SYSTEMS.values():
        table.row(name, "On" if on else "Off")
    table.rule()
    return joined(table.lines)
