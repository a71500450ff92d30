"""Several Xids of one failure are one incident, and its words say all that was told."""

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
