"""``lscpu`` (util-linux): the node's processors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.system import machine

_FLAGS = {"J": "json", "V": "version", "h": "help", "b": "online", "a": "all", "x": "hex"}
_VALUES = {"s": "sysroot"}
_COLUMNS = ("CPU", "Core", "Socket", "Node", "", "L1d", "L1i", "L2", "L3")
_FORMS = {"-p": "parse", "--parse": "parse", "-e": "extended", "--extended": "extended"}


@command("lscpu", latency_us=10_000)
def main(argv: Sequence[str], out: TextIO, err: TextIO) -> int:
    """Describe them; with ``-p`` or ``-e`` one a line."""
    form = columns = ""
    words = []
    for word in argv:
        name, _, value = word.partition("=")
        if name in _FORMS:
            form, columns = _FORMS[name], value
        else:
            words.append(word)
    try:
        options, rest = parse(words, _FLAGS, _VALUES, (), ("bytes",))
    except UnknownOptionError as error:
        err.write(f"lscpu: {error}\n")
        return NOT_UNDERSTOOD
    if rest or set(options) & {"help", "sysroot"}:
        err.write(f"lscpu: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    if "version" in options:
        out.write("lscpu from util-linux 2.37.2\n")
    elif form:
        return _each(form, columns, out, err)
    elif "json" in options:
        fields = [{"field": f"{label}:", "data": value} for label, value in _rows()]
        out.write(json.dumps({"lscpu": fields}, indent=3) + "\n")
    else:
        out.writelines(f"{label + ':':<33}{value}\n" for label, value in _rows())
    return 0


def _rows() -> list[tuple[str, str]]:
    cores = machine.NUMA_NODES * machine.CORES_PER_SOCKET
    nodes = range(machine.NUMA_NODES)
    l3_mib = machine.L3_KIB_PER_SOCKET * machine.NUMA_NODES // 1024
    return [
        ("Architecture", "x86_64"),
        ("CPU op-mode(s)", "32-bit, 64-bit"),
        ("Address sizes", "52 bits physical, 57 bits virtual"),
        ("Byte Order", "Little Endian"),
        ("CPU(s)", str(machine.CPUS)),
        ("On-line CPU(s) list", f"0-{machine.CPUS - 1}"),
        ("Vendor ID", "GenuineIntel"),
        ("Model name", machine.CPU_MODEL),
        ("CPU family", str(machine.CPU_FAMILY)),
        ("Model", str(machine.CPU_MODEL_NUMBER)),
        ("Thread(s) per core", str(machine.THREADS_PER_CORE)),
        ("Core(s) per socket", str(machine.CORES_PER_SOCKET)),
        ("Socket(s)", str(machine.NUMA_NODES)),
        ("Stepping", str(machine.CPU_STEPPING)),
        ("CPU max MHz", f"{machine.CPU_MAX_MHZ:.4f}"),
        ("CPU min MHz", f"{machine.CPU_MIN_MHZ:.4f}"),
        ("BogoMIPS", f"{2 * machine.CPU_MHZ:.2f}"),
        ("Flags", machine.CPU_FLAGS),
        ("Virtualization", "VT-x"),
        ("L1d cache", f"{machine.L1D_KIB_PER_CORE * cores / 1024:.3g} MiB ({cores} instances)"),
        ("L1i cache", f"{machine.L1I_KIB_PER_CORE * cores / 1024:.3g} MiB ({cores} instances)"),
        ("L2 cache", f"{machine.L2_KIB_PER_CORE * cores // 1024} MiB ({cores} instances)"),
        ("L3 cache", f"{l3_mib} MiB ({machine.NUMA_NODES} instances)"),
        ("NUMA node(s)", str(machine.NUMA_NODES)),
        *((f"NUMA node{node} CPU(s)", machine.cpu_list(node)) for node in nodes),
        ("Vulnerability Meltdown", "Not affected"),
        ("Vulnerability Spectre v2", "Mitigation; Enhanced / Automatic IBRS"),
    ]


def _each(form: str, wanted: str, out: TextIO, err: TextIO) -> int:
    known = {name.lower(): name for name in _COLUMNS}
    asked = wanted.lower().split(",") if wanted else list(known)
    if unknown := [name for name in asked if name not in known]:
        err.write(f"lscpu: {unknown[0]}: this column is not known here\n")
        return NOT_UNDERSTOOD
    shown = [known[name] for name in asked]
    if form == "parse":
        out.write(
            "# The following is the parsable format, which can be fed to other\n"
            "# programs. Each different item in every column has an unique ID\n"
            f"# starting usually from zero.\n# {','.join(shown)}\n"
        )
    else:
        out.write(" ".join(f"{name.upper():>6}" for name in shown if name) + "\n")
    per_thread = machine.CPUS // machine.THREADS_PER_CORE
    for cpu in range(machine.CPUS):
        core = cpu % per_thread
        socket = core // machine.CORES_PER_SOCKET
        values = {
            "CPU": cpu, "Core": core, "Socket": socket, "Node": socket, "L1d": core, "L1i": core,
            "L2": core, "L3": socket,
        }  # fmt: skip
        cells = [str(values.get(name, "")) for name in shown]
        if form == "parse":
            out.write(",".join(cells) + "\n")
        else:
            out.write(" ".join(f"{cell:>6}" for cell in cells if cell) + "\n")
    return 0
