"""Several Xids of one failure are one incident, and its words say all that was told."""

import pytest

from gputui.model import Action
from gputui.scan.judge import Judge
from gputui.scan.reader import events


def found(text):
    """The incidents of a log."""
    judge = Judge()
    for one in events("x", iter([text.encode()]), 1e9):
        judge.hear(one.event, one.host)
    return [one.incident for one in judge.incidents()]


def test_a_double_bit_error_that_was_contained_and_remapped():
    """48, 63 and 94 together: what it was, that it was contained, and what the next reset does."""
    worst, *below = found(
        "[  100.000000] NVRM: Xid (PCI:0000:3b:00): 48, pid=77, name=python, An uncorrectable "
        "double bit error (DBE) has been detected on GPU in the framebuffer at partition 3.\n"
        "[  100.100000] NVRM: Xid (PCI:0000:3b:00): 63, pid=77, name=python, Row Remapper: New row "
        "(0x0000000000abcdef) marked for remapping, reset gpu to activate.\n"
        "[  100.200000] NVRM: Xid (PCI:0000:3b:00): 94, pid=77, name=python, Contained: FB DED "
        "(0x10,0x0). RST: No, D-RST: No\n"
    )
    assert (worst.kind, worst.cause) == ("EccUncorrectable", "contained")
    for words in ("double-bit", "contained", "spare row", "reset"):
        assert words in worst.cause_text
    assert all(one.parent == worst.id for one in below)


def test_an_error_that_was_contained_alone():
    """94 alone says no more than that."""
    worst, *_ = found(
        "[  100.200000] NVRM: Xid (PCI:0000:3b:00): 94, pid=77, name=python, Contained: FB DED "
        "(0x10,0x0). RST: No, D-RST: No\n"
    )
    assert worst.cause_text == "uncorrectable memory error, contained to its application"


def test_a_switch_of_contexts_that_hangs_takes_the_firmware_with_it():
    """119 within seconds of 109 on the same GPU is what follows from it."""
    log = (
        "[  100.000000] NVRM: Xid (PCI:0000:3b:00): 109, pid=77, name=python, Ch 00000008, "
        "errorString CTX SWITCH TIMEOUT, Info 0x3c046\n"
        "[  103.100000] NVRM: Xid (PCI:0000:{bus}:00): 119, pid=77, name=python, Timeout after 6s "
        "of waiting for RPC response from GPU1 GSP! Expected function 76 (GSP_RM_CONTROL).\n"
    )
    first, second = found(log.format(bus="3b"))
    assert (first.id.split("/")[2], second.parent) == ("GpuXid-109", first.id)
    assert [one.parent for one in found(log.format(bus="5e"))] == [None, None]


def xids(*told, bus="3b"):
    """A log of some Xids of one GPU: when each was told (s), and what stands after the address."""
    return "".join(f"[{at:12.6f}] NVRM: Xid (PCI:0000:{bus}:00): {what}\n" for at, what in told)


RESET_ASKED = "154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"
FIRMWARE_SILENT = (
    "119, pid=77, name=python, Timeout after 6s of waiting for RPC response from GPU1 GSP! "
    "Expected function 76 (GSP_RM_CONTROL)."
)


@pytest.mark.parametrize(
    "told",
    [
        [
            (100, "31, pid=77, name=python, Ch 00000008, intr 00000000. MMU Fault"),
            (103, "43, pid=77, name=python, Ch 00000008"),
        ],
        [
            (100, "13, pid=77, name=python, Graphics SM Warp Exception on (GPC 0, TPC 1, SM 0)"),
            (103, "43, pid=77, name=python, Ch 00000008"),
        ],
        [
            (100, "120, pid=77, name=python, GSP task exception"),
            (103, FIRMWARE_SILENT),
            (104, RESET_ASKED),
        ],
        [
            (100, "95, pid='<unknown>', name=<unknown>, Uncontained: FBHUB (0x1). RST: Yes"),
            (101, RESET_ASKED),
            (102, "46"),
        ],
        [
            (100, "137, pid=77, name=python, NVLink FLA privilege error"),
            (100, "154, GPU recovery action changed from 0x0 (None) to 0x5 (Recover IMEX Domain)"),
        ],
    ],
    ids=["43 after 31", "43 after 13", "119 after 120", "46 after 95", "154 after 137"],
)
def test_what_follows_from_an_xid_hangs_under_it(told):
    """Within seconds on the same GPU they are one failure; on another GPU they are two."""
    worst, *below = found(xids(*told))
    assert [one.kind for one in (worst, *below) if one.parent is None] == [worst.kind]
    assert below
    first, *others = told
    roots = [one for one in found(xids(first) + xids(*others, bus="5e")) if one.parent is None]
    assert len(roots) == 2


def test_a_channel_reset_of_another_process_is_its_own():
    """Xid 43 of a process does not follow from the page fault of another."""
    log = xids(
        (100, "31, pid=77, name=python, Ch 00000008, intr 00000000. MMU Fault"),
        (103, "43, pid=78, name=python, Ch 00000008"),
    )
    assert [one.parent for one in found(log)] == [None, None]


@pytest.mark.parametrize("code", [48, 95])
def test_memory_without_a_spare_row_is_replaced(code):
    """A reset does not mend a GPU whose bad row could not be replaced (Xid 64)."""
    worst, *below = found(
        xids(
            (100, f"{code}, pid='<unknown>', name=<unknown>, uncorrectable error"),
            (100, "64, pid='<unknown>', name=<unknown>, Row Remapping table is full"),
        )
    )
    assert (worst.kind, worst.action) == ("EccUncorrectable", Action.REPLACE_GPU)
    assert "replace it" in worst.action_text
    assert all(one.parent == worst.id for one in below)


def test_an_imex_domain_to_be_recovered_names_its_service():
    """What the driver asks for is not a look at the links of this GPU."""
    log = xids(
        (100, "154, GPU recovery action changed from 0x0 (None) to 0x5 (Recover IMEX Domain)")
    )
    (one,) = found(log)
    assert "systemctl restart nvidia-imex" in one.action_text
    assert "nvlink -s" not in one.action_text


@pytest.mark.parametrize(
    "told",
    [
        "48, pid=77, name=python, An uncorrectable double bit error (DBE) has been detected",
        "62, pid='<unknown>', name=<unknown>, 0x2a2c 0x0 0x0",
        "109, pid=77, name=python, Ch 00000008, errorString CTX SWITCH TIMEOUT, Info 0x3c046",
        "95, pid='<unknown>', name=<unknown>, Uncontained: FBHUB (0x1). RST: Yes, D-RST: No",
        FIRMWARE_SILENT,
        RESET_ASKED,
    ],
)
def test_whoever_is_to_reset_a_gpu_is_told_who_holds_it(told):
    """A reset is refused while a service has the GPU open, and these are seldom thought of."""
    worst, *_ = found(xids((100, told)))
    assert worst.action in (Action.RESET_GPU, Action.DRAIN_AND_RESET)
    for holder in ("nvidia-dcgm", "dcgm-exporter", "nvidia-persistenced"):
        assert holder in worst.action_text
    assert worst.action_text.index("nvidia-dcgm") < worst.action_text.rindex("reset")
