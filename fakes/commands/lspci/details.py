"""What ``-v`` and ``-vv`` add to a device's line, decoded from its configuration space."""

from __future__ import annotations

from collections.abc import Iterator

from fakes.commands.lspci.lines import Style, unnamed
from fakes.pci.config import ACCESS_CONTROL, ADVANCED_ERRORS, EXPRESS
from fakes.pci.tree import PciDevice, vendor_name

Bytes = bytes | bytearray
_COMMAND_BITS = (
    "I/O", "Mem", "BusMaster", "SpecCycle", "MemWINV", "VGASnoop", "ParErr", "Stepping", "SERR",
    "FastB2B", "DisINTx",
)  # fmt: skip
_SPEEDS = {1: "2.5", 2: "5", 3: "8", 4: "16", 5: "32", 6: "64"}
_ACCESS_BITS = (
    "SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans",
)  # fmt: skip
_ROOT_PORT = 4


def details(device: PciDevice, space: Bytes, style: Style, level: int) -> Iterator[str]:
    """The lines below a device's own; ``level`` is how often ``-v`` was given."""
    if device.gone:
        yield "\t!!! Unknown header type 7f"
    elif level > 1:
        yield from _subsystem(device, style)
        yield from _registers(device, space)
    else:
        yield from _subsystem(device, style)
        yield from _flags(device, space)
    if device.driver:
        yield f"\tKernel driver in use: {device.driver}"
    if device.modules:
        yield f"\tKernel modules: {', '.join(device.modules)}"


def _subsystem(device: PciDevice, style: Style) -> Iterator[str]:
    vendor, number = device.subsystem
    if not vendor or device.below is not None:
        return
    ids = f"{vendor:04x}:{number:04x}"
    words = f"{vendor_name(vendor)} {unnamed(number)}"
    shown = (words, ids, f"{words} [{ids}]")[style.numbers]
    yield f"\tSubsystem: {shown}"


def _flags(device: PciDevice, space: Bytes) -> Iterator[str]:
    flags = ["bus master"] if _word(space, 4) & 4 else []
    flags += ["fast devsel", "latency 0"]
    if device.driver:
        flags.append(f"IRQ {_irq(device)}")
    flags.append(f"NUMA node {device.numa_node}")
    yield f"\tFlags: {', '.join(flags)}"
    yield from _bus(device)
    if device.link is not None:
        kind = "Root Port (Slot-)" if device.below is not None else "Endpoint"
        yield f"\tCapabilities: [{EXPRESS:02x}] Express {kind}, MSI 00"
        yield f"\tCapabilities: [{ADVANCED_ERRORS:x}] Advanced Error Reporting"
        if device.below is not None:
            yield f"\tCapabilities: [{ACCESS_CONTROL:x}] Access Control Services"


def _bus(device: PciDevice) -> Iterator[str]:
    if device.below is not None:
        buses = f"secondary={device.below:02x}, subordinate={device.below:02x}"
        yield f"\tBus: primary={device.bus:02x}, {buses}, sec-latency=0"


def _registers(device: PciDevice, space: Bytes) -> Iterator[str]:
    command = _word(space, 4)
    yield f"\tControl: {_signs(command, _COMMAND_BITS)}"
    has = "+" if _word(space, 6) & 0x10 else "-"
    yield (
        f"\tStatus: Cap{has} 66MHz- UDF- FastB2B- ParErr- DEVSEL=fast >TAbort- <TAbort- <MAbort- "
        ">SERR- <PERR- INTx-"
    )
    yield "\tLatency: 0"
    if device.driver:
        yield f"\tInterrupt: pin A routed to IRQ {_irq(device)}"
    yield f"\tNUMA node: {device.numa_node}"
    yield from _bus(device)
    if device.link is not None:
        yield from _express(space)
        yield f"\tCapabilities: [{ADVANCED_ERRORS:x} v2] Advanced Error Reporting"
        if device.below is not None:
            yield from _access(space)


def _express(space: Bytes) -> Iterator[str]:
    kind = _word(space, EXPRESS + 2) >> 4 & 0xF
    capable, control = _long(space, EXPRESS + 4), _word(space, EXPRESS + 8)
    link, now = _long(space, EXPRESS + 12), _word(space, EXPRESS + 18)
    port = kind == _ROOT_PORT
    name = "Root Port (Slot-)" if port else "Endpoint"
    yield f"\tCapabilities: [{EXPRESS:02x}] Express (v2) {name}, MSI 00"
    payload = 128 << (capable & 7)
    latencies = "" if port else ", Latency L0s <64ns, L1 <1us"
    yield f"\t\tDevCap:\tMaxPayload {payload} bytes, PhantFunc 0{latencies}"
    by_role = _sign("RBE", capable >> 15)
    if port:
        yield f"\t\t\tExtTag- {by_role}"
    else:
        reset = _sign("FLReset", capable >> 28)
        yield f"\t\t\tExtTag- AttnBtn- AttnInd- PwrInd- {by_role} {reset} SlotPowerLimit 0W"
    errors = _signs(control, ("CorrErr", "NonFatalErr", "FatalErr", "UnsupReq"))
    yield f"\t\tDevCtl:\t{errors}"
    order, tag = _sign("RlxdOrd", control >> 4), _sign("ExtTag", control >> 8)
    snoop = _sign("NoSnoop", control >> 11)
    yield f"\t\t\t{order} {tag} PhantFunc- AuxPwr- {snoop}{'' if port else ' FLReset-'}"
    yield (
        f"\t\t\tMaxPayload {128 << (control >> 5 & 7)} bytes, "
        f"MaxReadReq {128 << (control >> 12 & 7)} bytes"
    )
    yield "\t\tDevSta:\tCorrErr- NonFatalErr- FatalErr- UnsupReq- AuxPwr- TransPend-"
    speed, width = link & 0xF, link >> 4 & 0x3F
    yield f"\t\tLnkCap:\tPort #0, Speed {_SPEEDS[speed]}GT/s, Width x{width}, ASPM not supported"
    yield "\t\t\tClockPM- Surprise- LLActRep- BwNot- ASPMOptComp-"
    yield "\t\tLnkCtl:\tASPM Disabled; RCB 64 bytes, Disabled- CommClk+"
    yield "\t\t\tExtSynch- ClockPM- AutWidDis- BWInt- AutBWInt-"
    at_speed, at_width = now & 0xF, now >> 4 & 0x3F
    slow, narrow = _compared(at_speed, speed), _compared(at_width, width)
    yield f"\t\tLnkSta:\tSpeed {_SPEEDS[at_speed]}GT/s ({slow}), Width x{at_width} ({narrow})"
    yield "\t\t\tTrErr- Train- SlotClk+ DLActive- BWMgmt- ABWMgmt-"


def _compared(now: int, capable: int) -> str:
    """What pciutils 3.7, Ubuntu 22.04's, says of a link beside what it could be."""
    if now == capable:
        return "ok"
    return "downgraded" if now < capable else "strange"


def _access(space: Bytes) -> Iterator[str]:
    yield f"\tCapabilities: [{ACCESS_CONTROL:x} v1] Access Control Services"
    yield f"\t\tACSCap:\t{_signs(_word(space, ACCESS_CONTROL + 4), _ACCESS_BITS)}"
    yield f"\t\tACSCtl:\t{_signs(_word(space, ACCESS_CONTROL + 6), _ACCESS_BITS)}"


def _irq(device: PciDevice) -> int:
    """A number for each device: which one is the kernel's own business."""
    return 16 + device.bus


def _signs(value: int, names: tuple[str, ...]) -> str:
    return " ".join(_sign(name, value >> bit) for bit, name in enumerate(names))


def _sign(name: str, value: int) -> str:
    return f"{name}{'+' if value & 1 else '-'}"


def _word(space: Bytes, at: int) -> int:
    return int.from_bytes(space[at : at + 2], "little")


def _long(space: Bytes, at: int) -> int:
    return int.from_bytes(space[at : at + 4], "little")
