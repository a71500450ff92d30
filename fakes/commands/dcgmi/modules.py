"""``dcgmi modules``: which parts of the host engine are loaded (dcgmModuleId_t)."""

from __future__ import annotations

from collections.abc import Sequence

from fakes.commands.dcgmi.engine import Engine, NotImitated, read
from fakes.hardware.links import switches_of

_FLAGS = {"-l": "list", "--list": "list", "-h": "help", "--help": "help"}
_WIDTHS = (11, 20, 50)
_NAMES = ("Core", "NvSwitch", "VGPU", "Introspection", "Health", "Policy", "Config", "Diag",
          "Profiling", "SysMon")  # fmt: skip
_USUALLY_LOADED = ("Core", "Profiling")


def run(argv: Sequence[str], engine: Engine) -> int:
    """List them. One is loaded when somebody first needs it."""
    if "--denylist" in argv:
        raise NotImitated("modules " + " ".join(argv))
    options = read("modules", argv, _FLAGS, {"--host": "host"})
    if "list" not in options:
        engine.out.write("dcgmi modules -l [--host HOST]\n")
        return 0
    loaded = {*_USUALLY_LOADED}
    if switches_of(engine.node):
        loaded.add("NvSwitch")
    if engine.memory.watched:
        loaded.add("Health")
    rule = "".join(f"+{'-' * width}" for width in _WIDTHS) + "+\n"
    whole = sum(_WIDTHS)
    out = engine.out
    out.write(f"{rule}| {'List Modules':<{whole + 1}}|\n| {'Status: Success':<{whole + 1}}|\n")
    out.write(rule.replace("-", "="))
    out.write(_row("Module ID", "Name", "State") + rule)
    for number, name in enumerate(_NAMES):
        out.write(_row(str(number), name, "Loaded" if name in loaded else "Not loaded"))
    out.write(rule)
    return 0


def _row(*cells: str) -> str:
    return (
        "".join(f"| {cell:<{width - 1}}" for cell, width in zip(cells, _WIDTHS, strict=True))
        + "|\n"
    )
