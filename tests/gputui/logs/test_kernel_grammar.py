"""Lines of the driver's grammar that nobody has seen: what was written into them is read from them.

The grammar is written here a second time, as a generator; it shares nothing with the reader.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gputui.logs.kernel import KernelParser

NOW_S = 1_790_000_000.0

HEX = "0123456789abcdef"
TEXTS = (
    "Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f4f_5a00",
    "Graphics Exception: ESR 0x504648=0x102000e 0x504650=0x24",
    "Graphics SM Warp Exception on (GPC 3, TPC 1, SM 0): Illegal Instruction Encoding",
    "Channel ID 0000000d intr0 00040000",
    "Class Error: ChId 0008, Class 0000cbc0, Offset 00000184, Data ffffffff",
    "Row Remapper: New row (0x0000000018f31d80) marked for remapping, reset gpu to activate.",
    "Contained: SM (0x1). RST: No, D-RST: No",
    "Uncontained: LTC TAG (0x2, 0x1). RST: Yes, D-RST: No",
    "NVLink: fatal error detected on link 14(0x0, 0x0, 0x0)",
    "Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 103 (X) (0x1).",
    "GSP task exception: illegal instruction fault @ pc:0x12ab34, partition:4#0, task:1",
    "GPU has fallen off the bus.",
    "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer",
    "GDDR, Uncorrectable DRAM error in FBPA 3 subpartition 0 physAddr 0xe9b9107e0",
    "2d0a(3ac4) 00000000 00000000",
    "RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x040868e2 0x00000008 0x00000000 0x00000000)",
)


@dataclass(frozen=True)
class Xid:
    """What is written into a line, and is to be read from it."""

    bus_id: str
    code: int
    pid: int | None
    process: str | None
    gpu_instance: int | None
    compute_instance: int | None
    caused_by: int | None


def digits(width):
    return st.text(HEX, min_size=width, max_size=width)


names = st.text(
    "abgkpxyz019 :,/'\"._-+@#()[]{}=<>$%&*!?;|~`^\\é漢", min_size=0, max_size=15
).filter(lambda name: name == name.strip() and name != "<unknown>" and ",  " not in name)


@st.composite
def prefixes(draw):
    """What logs put in front of a message."""
    up = f"{draw(st.integers(0, 99_999_999))}.{draw(st.integers(0, 999_999)):06d}"
    clock = f"{draw(st.integers(0, 23)):02d}:{draw(st.integers(0, 59)):02d}:07"
    day = draw(st.integers(1, 28))
    host = draw(st.sampled_from(["n0", "gpu-01.cluster", "10.0.0.7", "node_b"]))
    iso = f"2025-03-{day:02d}T{clock}"
    thread = draw(st.sampled_from(["", "[ T1946] ", "[    C12] ", "[T9] "]))
    level = draw(st.sampled_from(["", "kern  :warn  : ", "kern  :err   : ", "<4>", "<12>"]))
    return draw(
        st.sampled_from(
            [
                "",
                "kernel: ",
                f"{level}[{up:>12}] {thread}",
                f"{level}[Thu Oct {day:2d} {clock} 2024] {thread}",
                f"{level}{iso}.131415+00:00 ",
                f"{level}{iso},131415+02:00 {thread}",
                f"4,1873,{draw(st.integers(0, 10**12))},-;",
                f"3,17,{draw(st.integers(0, 10**12))},c,caller=T1;",
                f"{iso}.131415+00:00 {host} kernel: ",
                f"{iso}-0700 {host} kernel: [{up:>12}] ",
                f"Sun 2025-03-02 {clock} UTC {host} kernel: ",
                f"Mar {day:2d} {clock} {host} kernel: ",
                f"Mar {day:02d} {clock}.123456 {host} kernel: [{up:>12}] {thread}",
                f"Mar {day:2d} {clock} kernel: ",
                f"1740910272.131415 {host} kernel: ",
                f"[{up:>12}] {host} kernel: ",
            ]
        )
    )


@st.composite
def xids(draw):
    """The message of an Xid, in any generation's dialect, and what it says."""
    domain, bus, device = draw(st.integers(1, 12).flatmap(digits)), draw(digits(2)), draw(digits(2))
    address = f"{domain}:{bus}:{device}"
    if draw(st.booleans()):
        address = address.upper()
    address += draw(st.sampled_from(["", "", ".0", ".7"]))
    gi = draw(st.none() | st.integers(0, 99))
    ci = None if gi is None else draw(st.none() | st.integers(0, 99))
    code = draw(st.integers(1, 999))
    where = draw(st.sampled_from(["PCI:", "PCI:", ""])) + address
    where += "" if gi is None else f" GPU-I:{gi:02d}"
    where += "" if ci is None else f" GPU-CI:{ci:02d}"
    pid, process, owner = None, None, ""
    how = draw(st.sampled_from(["none", "pid", "both", "both", "both", "unknown"]))
    blank = draw(st.sampled_from([" ", " ", "\t", "  "]))
    if how == "unknown":
        owner = f",{blank}pid='<unknown>',{blank}name=<unknown>"
    elif how != "none":
        pid = draw(st.integers(0, 2**22))
        owner = f",{blank}pid={pid}"
    text = draw(st.sampled_from(TEXTS)) if how == "pid" or draw(st.integers(0, 5)) else ""
    if how == "both":
        process = draw(names)
        assume(text or ", " not in process)
        owner += f",{blank}name={process}"
    caused_by = draw(st.none() | st.integers(1, 176)) if text else None
    if caused_by is not None:
        text += f" caused by previous Xid {caused_by}"
    comma = draw(st.sampled_from([",", ",", ",", ""])) if not owner else ","
    said = f"{comma}{blank}{text}" if text else ""
    colon = draw(st.sampled_from([":", ":", ""]))
    head = f"NVRM:{blank}Xid{blank}({where}){colon}{blank}{code}"
    plain = f"{int(domain, 16):04x}:{bus}:{device}"
    return f"{head}{owner}{said}", Xid(plain, code, pid, process or None, gi, ci, caused_by)


def read(line, ahead=()):
    from gputui.text import decoded

    decoded_ahead = [decoded(one.encode()) for one in ahead]
    return KernelParser().parse(
        decoded(line.encode()), NOW_S, live=False, ahead=lambda: ahead and decoded_ahead
    )


def told(event):
    return Xid(
        event.bus_id,
        event.code,
        event.pid,
        event.process,
        event.gpu_instance,
        event.compute_instance,
        event.caused_by,
    )


FOLLOWING = [
    "[    9.000000] usb 1-1: new high-speed USB device number 4, using xhci_hcd",
    "Mar  2 10:11:13 n0 kernel: eth0: link up, 100 Gbps",
]


@settings(max_examples=300, deadline=None)
@given(prefixes(), xids(), st.booleans())
def test_every_line_of_the_grammar_is_read_as_it_was_written(prefix, xid, followed):
    """Address, code, pid, name, MIG instances and named cause, in every dialect and prefix."""
    message, expected = xid
    event = read(prefix + message, FOLLOWING if followed else ())
    assert event is not None
    assert event.kind == "xid"
    assert told(event) == expected


@settings(max_examples=250, deadline=None)
@given(prefixes(), xids(), st.data())
def test_a_broken_line_is_read_as_if_it_were_whole(prefix, xid, data):
    """Wherever it was broken after its first word: stamped lines are told from what is left."""
    message, expected = xid
    assume(prefix.strip())
    at = data.draw(st.integers(len("NVRM: "), len(message) - 1))
    first, second = message[:at], message[at:]
    # Blanks at the break are lost, and a name with commas cannot be told from a text cut short.
    assume(first == first.rstrip() and second == second.lstrip())
    assume(expected.process is None or "," not in expected.process)
    assume(expected.process is None or not expected.process.startswith("="))
    assume(not message.endswith(f"name={expected.process}"))
    event = read(prefix + first, [second, *FOLLOWING])
    assert event is not None
    found = told(event)
    assert (found.bus_id, found.gpu_instance, found.compute_instance) == (
        expected.bus_id,
        expected.gpu_instance,
        expected.compute_instance,
    )
    assert (found.code, found.pid, found.process) == (expected.code, expected.pid, expected.process)


@settings(deadline=None)
@given(
    st.sampled_from(
        [
            'audit: type=1400 apparmor="DENIED" comm="grep" name="{}"',
            "n0 train[77]: {}",
            "usb 1-1: Product: {}",
            "python3[812]: segfault at 0 ip 0 sp 0 error 4 in {}",
            "EXT4-fs error (device sda1): {}",
            "log: {}",
            "> {}",
            "'{}'",
            "Xid {}",
            "# {}",
        ]
    ),
    prefixes(),
    xids(),
)
def test_a_line_quoted_in_another_message_is_nothing(around, prefix, xid):
    """Whoever else prints the driver's words does not speak for it."""
    assert read(prefix + around.format(xid[0])) is None
