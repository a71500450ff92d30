"""Small logs after public fault reports: one incident each, of the right kind, cause and action.

Order, form and distance of the lines are the reports'; addresses and numbers are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from gputui.model import Action, Severity
from gputui.scan.judge import Judge
from gputui.scan.reader import events


def incidents_of(log: str):
    """The incidents of a log."""
    judge = Judge()
    for one in events("x", iter([log.encode()]), 1_790_000_000.0):
        judge.hear(one.event, one.host)
    return [one.incident for one in judge.incidents()]


@dataclass(frozen=True)
class Report:
    """A log, and the one incident that it comes to; ``source`` is the thread it is after."""

    source: str
    kind: str
    cause: str
    action: Action
    log: str
    below: frozenset[str] = frozenset({"GpuXid"})


REPORTS = (
    Report(
        "NVIDIA/open-gpu-kernel-modules#1150: a fatal link event, and what others had under way",
        "NvlinkDown", "peer", Action.CHECK_LINK,
        """\
[ 10.0] NVRM: Xid (PCI:0000:dc:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 00 (0x025001c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)
[ 10.1] NVRM: Xid (PCI:0000:ed:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 11 (0x0409a0c2 0x00000008 0x00000001 0x00000000 0x00100000 0x00000004)
[ 10.1] NVRM: Xid (PCI:0000:ba:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 12 (0x0409a0c2 0x00000008 0x00000001 0x00000000 0x00100000 0x00000004)
[ 10.2] NVRM: Xid (PCI:0000:dc:00): 45, pid=18990, name=python3, Ch 00000001 caused by previous Xid 149
[ 10.2] NVRM: Xid (PCI:0000:ed:00): 45, pid=18992, name=python3, Ch 0000000c caused by previous Xid 145
[ 10.2] NVRM: Xid (PCI:0000:ba:00): 45, pid=18989, name=python3, Ch 00000002 caused by previous Xid 145
""",  # noqa: E501
    ),
    Report(
        "NVIDIA/open-gpu-kernel-modules#1355: both GPUs of a pair tell of one error of the fabric",
        "GpuXid", "hardware", Action.CHECK_LINK,
        """\
[1000.100000] NVRM: Xid (PCI:0000:66:00): 145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x040868e2 0x00000008 0x00000000 0x00000000 0x00000000 0x00000000)
[1000.100100] NVRM: Xid (PCI:0000:76:00): 145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x040868e2 0x00000008 0x00000000 0x00000000 0x00000000 0x00000000)
[1000.200000] NVRM: Xid (PCI:0000:66:00): 45, pid=5001, name=VLLM::Worker_TP0, Ch 00000001 caused by previous Xid 145
[1000.200100] NVRM: Xid (PCI:0000:76:00): 45, pid=5002, name=VLLM::Worker_TP1, Ch 00000001 caused by previous Xid 145
""",  # noqa: E501
    ),
    Report(
        "NVIDIA/nccl#2241: an error of a link, and the access refused because of it",
        "GpuXid", "hardware", Action.CHECK_LINK,
        """\
[ 10.0] NVRM: GPU1 kbifCacheVFInfo_GB100: Unable to read NV_PF0_INITIAL_AND_TOTAL_VFS
[ 10.0] NVRM: Xid (PCI:0000:3b:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 11 (0x00000142 0x00000008 0x00000000 0x00000000 0x00000000 0x00000000)
[ 10.0] NVRM: Xid (PCI:0000:3b:00): 137, RLW_RXPIPE interrupt hit on link 11 on GPU0: PRIV Error
""",  # noqa: E501
    ),
    Report(
        "leptonai/gpud#46: a kernel's exception, and the context that cannot be switched away",
        "GpuXid", "application", Action.RESET_GPU,
        """\
[Fri Aug 30 11:11:22 2024] nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing
[Fri Aug 30 11:43:09 2024] NVRM: Xid (PCI:0000:cb:00): 13, pid='<unknown>', name=<unknown>, Graphics SM Warp Exception on (GPC 7, TPC 7, SM 0): Illegal Instruction Parameter
[Fri Aug 30 11:43:09 2024] NVRM: Xid (PCI:0000:cb:00): 13, pid='<unknown>', name=<unknown>, Graphics Exception: ESR 0x57c730=0xc04000b 0x57c734=0x24
[Fri Aug 30 11:43:14 2024] NVRM: Xid (PCI:0000:cb:00): 109, pid=1797828, name=pt_main_thread, Ch 00000008, errorString CTX SWITCH TIMEOUT, Info 0x58005
""",  # noqa: E501
    ),
    Report(
        "leptonai/gpud#338: a switch that refuses, and the jobs that end by it",
        "NvswitchError", "switch", Action.DRAIN_AND_RESET,
        """\
kern  :err   : 2025-01-25T10:34:54,859532+00:00 nvidia-nvswitch1: SXid (PCI:0000:84:00.0): 12028, Fatal, Link 45 egress nonposted PRIV error (First)
kern  :err   : 2025-01-25T10:34:54,859532+00:00 nvidia-nvswitch1: SXid (PCI:0000:84:00.0): 12028, Data {0x000001c0, 0x00bd5c8a, 0x00000500}
kern  :err   : 2025-01-25T10:34:55,000000+00:00 NVRM: Xid (PCI:0000:3b:00): 45, pid=77, name=python3, Ch 00000001
kern  :err   : 2025-01-25T10:34:55,000000+00:00 NVRM: Xid (PCI:0000:5e:00): 45, pid=78, name=python3, Ch 00000001
""",  # noqa: E501
    ),
    Report(
        "NVIDIA/open-gpu-kernel-modules#1045: a halted processor, its silence, and the verdict",
        "GpuXid", "hardware", Action.REBOOT_NODE,
        """\
Jun 12 16:31:40 box kernel: NVRM: Xid (PCI:0000:01:00): 62, 1e2c3f40 0000a8c4 00000000 20214b5e 202141e6 2021343c 2022e1e4 00000000
Jun 12 16:31:40 box kernel: NVRM: Xid (PCI:0000:01:00): 45, pid=2345, name=kwin_wayland, Ch 00000018
Jun 12 16:31:46 box kernel: NVRM: Xid (PCI:0000:01:00): 119, pid=2345, name=kwin_wayland, Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL) sequence 92013 (0x20800a4c 0x4).
Jun 12 16:31:50 box kernel: NVRM: GPU0 nvCheckOkFailedNoLog: Check failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062) returned from x
Jun 12 16:31:50 box kernel: NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)
""",  # noqa: E501
        frozenset({"GpuXid", "GpuResetRequired"}),
    ),
    Report(
        "scitix/sichek#51: work refused before a reset, without any Xid",
        "GpuResetRequired", "driver", Action.RESET_GPU,
        """\
[Sun Jan 11 09:52:01 2026] NVRM: rpcRmApiAlloc_GSP: GspRmAlloc failed: hClient=0xc1d1a616; hParent=0x5c000054; paramsStatus=0x00000062; status=0x00000062
[Sun Jan 11 09:52:01 2026] NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062) returned from status @ kernel_channel.c:2874
""",  # noqa: E501
        frozenset(),
    ),
    Report(
        "wilicc/gpu-burn#1: a port loses its card",
        "GpuLost", "bus", Action.POWER_CYCLE,
        """\
[74889.542031] pcieport 0000:00:02.0: AER: Uncorrected (Fatal) error received: id=0010
[74889.542044] pcieport 0000:00:02.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, id=0010(Receiver ID)
[74889.542184] pcieport 0000:00:02.0:    [ 5] Surprise Down Error    (First)
[74889.542239] nvidia 0000:02:00.0: device has no AER-aware driver
[74889.644138] NVRM: Xid (PCI:0000:02:00): 79, GPU has fallen off the bus.
[74889.644191] NVRM: GPU at 0000:02:00.0 has fallen off the bus.
""",  # noqa: E501
        frozenset({"GpuXid", "PcieErrors"}),
    ),
    Report(
        "rwth-i6/returnn#1500: a port's fatal error, of which the card's driver cannot recover",
        "PcieErrors", "link", Action.CHECK_LINK,
        """\
[ 100.000001] pcieport 0000:00:03.0: AER: Multiple Uncorrected (Fatal) error received: 0000:00:03.0
[ 100.000005] pcieport 0000:00:03.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)
[ 100.002686] pcieport 0000:00:03.0:    [14] CmpltTO                (First)
[ 100.003607] nvidia 0000:03:00.0: AER: can't recover (no error_detected callback)
[ 100.003609] snd_hda_intel 0000:03:00.1: AER: can't recover (no error_detected callback)
[ 101.054087] pcieport 0000:00:03.0: AER: device recovery failed
""",  # noqa: E501
        frozenset(),
    ),
    Report(
        "NVIDIA/open-gpu-kernel-modules#1229: an access that PCIe did not complete",
        "PcieErrors", "link", Action.CHECK_LINK,
        """\
[  500.0] pcieport 0000:00:01.2: AER: Uncorrectable (Non-Fatal) error message received from 0000:63:00.0
[  500.1] nvidia 0000:63:00.0: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=Transaction Layer, (Requester ID)
[  500.3] nvidia 0000:63:00.0:    [14] CmpltTO                (First)
[  500.4] nvidia 0000:63:00.0: AER: can't recover (no error_detected callback)
[  501.0] NVRM: Xid (PCI:0000:63:00): 31, pid=2211, name=plasmashell, channel 0x00000018, intr 00000000. MMU Fault: ENGINE GR_HOST0 HUBCLIENT_ESC0 faulted @ 0x1_00000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ
""",  # noqa: E501
    ),
)  # fmt: skip


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.source.partition(":")[0])
def test_a_public_report_is_one_incident(report):
    """The cause on top, what it brought about below."""
    worst, *below = incidents_of(report.log)
    assert (worst.kind, worst.cause, worst.action) == (report.kind, report.cause, report.action)
    assert worst.severity >= Severity.WARNING
    assert [one.kind for one in below if one.parent is None] == []
    assert {one.kind for one in below} == report.below


HARMLESS = (
    # canonical/tdx#414: a link's processor says that it was asked
    "[   38.178720] nvidia-nvswitch3: SXid (PCI:0000:04:00.0): 22013, Non-fatal, Link 44 Minion "
    "Link DLREQ interrupt\n",
    # pop-os/pop#3363: corrected errors of a port that no GPU is known to hang on
    "[68183.615790] pcieport 0000:00:03.1: AER: Correctable error message received from "
    "0000:00:00.0\n[68183.615810] pcieport 0000:00:03.1: PCIe Bus Error: severity=Correctable, "
    "type=Data Link Layer, (Transmitter ID)\n",
    # leptonai/gpud#46
    "[  10.0] nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, "
    "skipping further processing\n",
    "[  10.0] nvidia 0000:63:00.0: enabling device (0000 -> 0003)\n",
)


@pytest.mark.parametrize("log", HARMLESS)
def test_what_is_harmless_calls_nobody(log):
    """At most information."""
    assert all(one.severity is Severity.INFO for one in incidents_of(log))
