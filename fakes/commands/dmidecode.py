"""``dmidecode``: what the server's BIOS says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system import machine

_VALUES = {"s": "string", "t": "type", "d": "dev-mem", "H": "handle"}
_FLAGS = {"q": "quiet", "V": "version", "h": "help", "u": "dump"}
_KINDS = {
    "bios": (0, 13), "system": (1,), "baseboard": (2,), "chassis": (3,), "processor": (4,),
    "memory": (16, 17),
}  # fmt: skip
_Rows = Sequence[tuple[str, str]]


@command("dmidecode", latency_us=20_000)
def main(
    argv: Sequence[str], node: Node, out: TextIO, err: TextIO, is_privileged: bool = True
) -> int:
    """Print it: all, some types (``-t``), or one value (``-s``)."""
    try:
        options, words = parse(argv, _FLAGS, _VALUES, ("string", "type"), ("no-sysfs",))
    except UnknownOptionError as error:
        err.write(f"dmidecode: {error}\n")
        return NOT_UNDERSTOOD
    if "version" in options:
        out.write("3.3\n")
        return 0
    if set(options) & {"dump", "help", "dev-mem", "handle"} or words:
        err.write(f"dmidecode: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    if not is_privileged:
        err.write("/sys/firmware/dmi/tables/smbios_entry_point: Permission denied\n")
        err.write("Can't read memory from /dev/mem\n")
        return 1
    if "string" in options:
        return _string(options["string"], node, out, err)
    return _tables(options.get("type"), node, out, err, quiet="quiet" in options)


def _string(name: str, node: Node, out: TextIO, err: TextIO) -> int:
    strings = _strings(node)
    if name not in strings:
        err.write(f"Invalid string keyword: {name}\nValid string keywords are:\n")
        err.writelines(f"  {known}\n" for known in strings)
        return 2
    out.writelines(f"{line}\n" for line in strings[name])
    return 0


def _strings(node: Node) -> Mapping[str, tuple[str, ...]]:
    numbers = machine.identity(node.name)
    sockets = machine.NUMA_NODES
    return {
        "bios-vendor": (machine.BIOS_VENDOR,),
        "bios-version": (machine.BIOS_VERSION,),
        "bios-release-date": (machine.BIOS_DATE,),
        "system-manufacturer": (machine.MANUFACTURER,),
        "system-product-name": (machine.PRODUCT,),
        "system-version": ("1",),
        "system-serial-number": (numbers.serial,),
        "system-uuid": (numbers.uuid,),
        "system-family": ("HGX",),
        "baseboard-manufacturer": (machine.MANUFACTURER,),
        "baseboard-product-name": (machine.BOARD,),
        "baseboard-serial-number": (numbers.board_serial,),
        "baseboard-asset-tag": (numbers.asset_tag,),
        "chassis-manufacturer": (machine.MANUFACTURER,),
        "chassis-type": ("Rack Mount Chassis",),
        "chassis-serial-number": (numbers.serial,),
        "chassis-asset-tag": (numbers.asset_tag,),
        "processor-manufacturer": ("Intel(R) Corporation",) * sockets,
        "processor-family": ("Xeon",) * sockets,
        "processor-version": (machine.CPU_MODEL,) * sockets,
        "processor-frequency": (f"{machine.CPU_MHZ} MHz",) * sockets,
    }


def _tables(asked: str | None, node: Node, out: TextIO, err: TextIO, *, quiet: bool) -> int:
    wanted: set[int] = set()
    for part in asked.split(",") if asked else ():
        name = part.strip().lower()
        if name in _KINDS:
            wanted.update(_KINDS[name])
        elif name.isdecimal():
            wanted.add(int(name))
        else:
            err.write(f"Invalid type keyword: {part}\nValid type keywords are:\n")
            err.writelines(f"  {known}\n" for known in _KINDS)
            return 2
    if not quiet:
        out.write("# dmidecode 3.3\nGetting SMBIOS data from sysfs.\nSMBIOS 3.5.0 present.\n\n")
    handle = 0
    for kind, title, made in _TABLES:
        for rows in made(node):
            handle += 1
            if wanted and kind not in wanted:
                continue
            if not quiet:
                out.write(f"Handle 0x{handle:04X}, DMI type {kind}, 48 bytes\n")
            out.write(f"{title}\n")
            out.writelines(f"\t{label}: {value}\n" for label, value in rows)
            out.write("\n")
    return 0


def _bios(node: Node) -> Iterator[_Rows]:
    del node
    yield (
        ("Vendor", machine.BIOS_VENDOR),
        ("Version", machine.BIOS_VERSION),
        ("Release Date", machine.BIOS_DATE),
    )


def _system(node: Node) -> Iterator[_Rows]:
    numbers = machine.identity(node.name)
    yield (
        ("Manufacturer", machine.MANUFACTURER),
        ("Product Name", machine.PRODUCT),
        ("Version", "1"),
        ("Serial Number", numbers.serial),
        ("UUID", numbers.uuid),
        ("Wake-up Type", "Power Switch"),
        ("Family", "HGX"),
    )


def _board(node: Node) -> Iterator[_Rows]:
    numbers = machine.identity(node.name)
    yield (
        ("Manufacturer", machine.MANUFACTURER),
        ("Product Name", machine.BOARD),
        ("Serial Number", numbers.board_serial),
        ("Asset Tag", numbers.asset_tag),
    )


def _chassis(node: Node) -> Iterator[_Rows]:
    yield (
        ("Manufacturer", machine.MANUFACTURER),
        ("Type", "Rack Mount Chassis"),
        ("Serial Number", machine.identity(node.name).serial),
    )


def _processor(node: Node) -> Iterator[_Rows]:
    del node
    for socket in range(machine.NUMA_NODES):
        yield (
            ("Socket Designation", f"CPU{socket}"),
            ("Type", "Central Processor"),
            ("Family", "Xeon"),
            ("Manufacturer", "Intel(R) Corporation"),
            ("Version", machine.CPU_MODEL),
            ("Max Speed", f"{machine.CPU_MAX_MHZ} MHz"),
            ("Current Speed", f"{machine.CPU_MHZ} MHz"),
            ("Status", "Populated, Enabled"),
            ("Core Count", str(machine.CORES_PER_SOCKET)),
            ("Core Enabled", str(machine.CORES_PER_SOCKET)),
            ("Thread Count", str(machine.CORES_PER_SOCKET * machine.THREADS_PER_CORE)),
        )


def _array(node: Node) -> Iterator[_Rows]:
    del node
    yield (
        ("Location", "System Board Or Motherboard"),
        ("Use", "System Memory"),
        ("Error Correction Type", "Multi-bit ECC"),
        ("Maximum Capacity", "4 TB"),
        ("Number Of Devices", str(machine.DIMMS)),
    )


def _modules(node: Node) -> Iterator[_Rows]:
    for dimm in range(machine.DIMMS):
        yield (
            ("Total Width", "80 bits"),
            ("Data Width", "64 bits"),
            ("Size", f"{machine.DIMM_GIB} GB"),
            ("Form Factor", "DIMM"),
            ("Locator", f"CPU{dimm // 16}_DIMM_{chr(ord('A') + dimm % 16 // 2)}{dimm % 2 + 1}"),
            ("Type", "DDR5"),
            ("Speed", "4800 MT/s"),
            ("Serial Number", f"{machine.identity(node.name).serial[-6:]}{dimm:02d}"),
            ("Configured Memory Speed", "4800 MT/s"),
        )


_TABLES: tuple[tuple[int, str, Callable[[Node], Iterator[_Rows]]], ...] = (
    (0, "BIOS Information", _bios),
    (1, "System Information", _system),
    (2, "Base Board Information", _board),
    (3, "Chassis Information", _chassis),
    (4, "Processor Information", _processor),
    (16, "Physical Memory Array", _array),
    (17, "Memory Device", _modules),
)
