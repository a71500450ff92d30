"""``dcgmi nvlink``: links of GPUs and switches, and their errors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fakes.commands.dcgmi.engine import Engine, RefusedError, gpus_of, read
from fakes.commands.dcgmi.tables import Table, joined
from fakes.hardware.gpu import Gpu
from fakes.hardware.links import Nvlink, far_end, switches_of
from fakes.system.dcgm import Status

_FLAGS = {
    "-s": "link-status", "--link-status": "link-status", "-e": "errors", "--errors": "errors",
    "-j": "json", "--json": "json", "-h": "help", "--help": "help",
}  # fmt: skip
_VALUES = {"-g": "gpu", "--gpuid": "gpu", "--host": "host"}
_HELP = "dcgmi nvlink -s | -e -g GPU [-j]\n"
_MOST_LINKS = 18


def run(argv: Sequence[str], engine: Engine) -> int:
    """Print states or errors."""
    options = read("nvlink", argv, _FLAGS, _VALUES)
    out = engine.out
    if "help" in options or not set(options) & {"link-status", "errors"}:
        out.write(_HELP)
    elif "link-status" in options:
        out.write(_status(engine))
    else:
        if "gpu" not in options:
            raise RefusedError("Error: GPU ID is required (-g).", Status.BADPARAM)
        (gpu,) = gpus_of({"gpus": options["gpu"]}, engine)
        out.write(_document(gpu) if "json" in options else _errors(gpu))
    return 0


def _status(engine: Engine) -> str:
    lines = ["+----------------------+", "|  NvLink Link Status  |", "+----------------------+"]
    lines.append("GPUs:")
    for gpu in engine.node.gpus:
        letters = ["U" if link.up and not gpu.lost else "D" for link in gpu.nvlinks]
        letters += ["_"] * (_MOST_LINKS - len(letters))
        lines += [f"    gpuId {gpu.index}:", f"        {' '.join(letters)}"]
    lines.append("NvSwitches:")
    gpus = engine.node.gpus
    switches = switches_of(engine.node) if gpus else ()
    if not switches:
        lines.append("    No NvSwitches found.")
    for switch in switches:
        ports = {}
        for gpu in gpus:
            for link, end in enumerate(gpu.nvlinks):
                far = far_end(engine.node, gpu, link)
                if far.switch == switch:
                    ports[far.number] = "U" if end.up and not gpu.lost else "D"
        letters = [ports[number] for number in sorted(ports)]
        lines += [f"    physicalId {8 + switch.index}:", f"        {' '.join(letters)}"]
    lines += ["", "Key: Up=U, Down=D, Disabled=X, Not Supported=_"]
    return joined(lines)


def _counts(link: Nvlink) -> tuple[tuple[str, int], ...]:
    return (
        ("CRC FLIT Error", 0),
        ("CRC Data Error", link.crc),
        ("Replay Error", link.replays),
        ("Recovery Error", link.recoveries),
    )


def _errors(gpu: Gpu) -> str:
    table = Table(29, 48)
    table.rule()
    table.title("NVLINK Error Counts")
    table.title(f"GPU {gpu.index}")
    table.rule("=")
    for number, link in enumerate(gpu.nvlinks):
        table.row(f"Link {number}")
        for name, count in _counts(link):
            table.row(f"-> {name}", str(count))
    table.rule()
    return joined(table.lines)


def _document(gpu: Gpu) -> str:
    body: dict[str, Any] = {
        f"Link {number}": {
            "children": {name: {"value": str(count)} for name, count in _counts(link)}
        }
        for number, link in enumerate(gpu.nvlinks)
    }
    header = ["NVLINK Error Counts", f"GPU {gpu.index}"]
    return json.dumps({"header": header, "body": body}, indent=4) + "\n"
