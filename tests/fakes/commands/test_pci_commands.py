"""lspci and setpci, and the real lspci reading the look-alike's configuration space."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from fakes.hardware.gpu import Lost

REAL = shutil.which("lspci")
GPU = "NVIDIA Corporation GH100 [H100 SXM5 80GB]"
SWITCH = "NVIDIA Corporation GH100 [H100 NVSwitch]"


@pytest.fixture
def lspci(shell):
    return lambda *argv: shell("lspci", *argv)


def test_gpus_switches_and_adapters_are_listed(lspci):
    """In the words that scripts count."""
    text = lspci().out
    assert text.count("3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)") == 8
    assert text.count("Infiniband controller: Mellanox Technologies") == 8
    assert len(lspci("-d", "10de:22a3").lines) == 4
    assert len(lspci("-d", "10de::0302").lines) == 8
    assert len(lspci("-n", "-d", "10de:").lines) == 12


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (("-s", "1b:00.0"), f"1b:00.0 3D controller: {GPU} (rev a1)"),
        (("-n", "-s", "1b:00.0"), "1b:00.0 0302: 10de:2330 (rev a1)"),
        (("-nn", "-s", "0000:1b:00.0"),
         f"1b:00.0 3D controller [0302]: {GPU} [10de:2330] (rev a1)"),
        (("-D", "-s", "1b:"), f"0000:1b:00.0 3D controller: {GPU} (rev a1)"),
        (("-mm", "-n", "-s", "1b:00"), '1b:00.0 "0302" "10de" "2330" -ra1 -p00 "10de" "16c1"'),
        (("-Dnn", "-s", "05:00.0"),
         f"0000:05:00.0 Bridge [0680]: {SWITCH} [10de:22a3] (rev a1)"),
    ],
)  # fmt: skip
def test_a_device_in_every_form(argv, line, lspci):
    """Words, numbers, both; with and without the domain."""
    assert lspci(*argv).lines == [line]


def test_a_gpu_that_fell_off_the_bus_has_revision_ff(shell, lspci):
    """It stays in the list, and its header cannot be read."""
    shell.node.gpus[3].lost = Lost(0)
    assert lspci("-s", "61:00.0").lines == [
        "61:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev ff)"
    ]
    assert lspci("-vvv", "-s", "61:00.0").lines[:2] == [
        "61:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev ff) (prog-if ff)",
        "\t!!! Unknown header type 7f",
    ]
    assert shell("setpci", "-s", "61:00.0", "VENDOR_ID").out == "ffff\n"
    assert lspci().out.count("(rev ff)") == 1


def test_a_link_that_came_down_is_told(shell, lspci):
    """In LnkSta, while LnkCap stays."""
    shell.node.gpus[0].set_pcie(8, 3, shell.world.now_us)
    text = lspci("-vv", "-s", "1b:00.0").out
    assert "LnkCap:\tPort #0, Speed 32GT/s, Width x16" in text
    assert "LnkSta:\tSpeed 8GT/s (downgraded), Width x8 (downgraded)" in text


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("-s", "xx:00.0"), "lspci: -s: Invalid bus number\n"),
        (("-d", "10de"), "lspci: -d: ID must have a colon\n"),
        (("here",), "lspci: Unexpected argument here\n"),
    ],
)
def test_what_is_no_filter_is_refused(argv, said, lspci):
    """With status 1."""
    got = lspci(*argv)
    assert (got.err, got.status) == (said, 1)


def real_lspci(shell, tmp_path, *argv):
    """What the real one makes of the look-alike's bytes."""
    if REAL is None:
        pytest.skip("no lspci here")
    dump = tmp_path / "dump"
    if not dump.exists():
        dump.write_text(shell("lspci", "-xxxx", "-D").out, encoding="utf-8")
    done = subprocess.run([REAL, "-F", dump, *argv], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "argv",
    [("-n",), ("-mm", "-n"), ("-n", "-d", "10de:"), ("-n", "-d", "::0302"), ("-n", "-s", "1b:"),
     ("-n", "-s", ".0", "-D"), ("-n", "-s", "1a:1"), ("-n", "-d", "8086:")],
)  # fmt: skip
def test_the_real_lspci_reads_the_same_numbers(argv, shell, tmp_path):
    """To the letter, also of a GPU that is gone."""
    shell.node.gpus[7].lost = Lost(0)
    real = real_lspci(shell, tmp_path, *argv)
    shown = [line for line in shell("lspci", *argv).lines if not line.startswith("df:")]
    assert [line for line in shown if "df:00" not in line] == [
        line for line in real if "df:00" not in line
    ]


@pytest.mark.parametrize("slot", ["1b:00.0", "1a:01.0", "28:00.0", "e1:00.0"])
def test_every_detail_is_one_that_the_real_lspci_decodes(slot, shell, tmp_path):
    """But for what the kernel tells beside the bytes: driver, NUMA node, interrupt."""
    shell.node.gpus[0].set_pcie(8, 4, shell.world.now_us)
    real = {_named(line) for line in real_lspci(shell, tmp_path, "-vvv", "-s", slot)}
    real |= {re.sub(r", Advanced Error Reporting$", "", line) for line in real}
    ours = shell("lspci", "-vvv", "-s", slot).lines
    kernels = ("\tNUMA node", "\tKernel", "\tInterrupt")
    missing = [line for line in ours if not line.startswith(kernels) and _named(line) not in real]
    assert missing == []


def _named(line):
    """Of another age here and there: names, and what pciutils says of a link as it should be."""
    line = re.sub(r" \((ok|downgraded)\)", "", line)
    return re.sub(r"GH100 ?\[", "GH100 [", line.rstrip())


def test_the_tree_has_the_real_branches(shell, tmp_path):
    """The same roots and bridges; the kernel lists buses from the highest down."""
    real = real_lspci(shell, tmp_path, "-t")
    ours = shell("lspci", "-t").lines
    cut = [line[3:] for line in ours]
    assert sorted(cut) == sorted(line[3:] for line in real)
    assert ours[0].startswith("-+-[0000:e2]")
    assert ours[-1].startswith(" \\-[0000:00]")
    assert "-[1b]----00.0" in "".join(ours)


@pytest.mark.parametrize(
    ("argv", "out"),
    [
        (("-s", "1b:00.0", "VENDOR_ID", "DEVICE_ID"), "10de\n2330\n"),
        (("-s", "28:00.0", "68.w"), "513f\n"),
        (("-s", "1b:00.0", "CAP_EXP+12.w"), "1105\n"),
        (("-s", "1a:01.0", "ECAP_ACS+0x6.w"), "001d\n"),
        (("-d", "10de:22a3", "0x0a.w"), "0680\n" * 4),
        (("-s", "1a:01.0", "SECONDARY_BUS"), "1b\n"),
    ],
)
def test_registers_are_read(argv, out, shell):
    """By name, offset and capability, in hexadecimal."""
    assert shell("setpci", *argv).out == out


def test_what_is_written_is_read_until_the_node_boots(shell, lspci):
    """As when access control is turned off for peer-to-peer transfers."""
    assert shell("setpci", "-v", "-s", "1a:01.0", "ECAP_ACS+0x6.w=0000").status == 0
    assert shell("setpci", "-s", "1a:01.0", "ECAP_ACS+0x6.w").out == "0000\n"
    assert "ACSCtl:\tSrcValid-" in lspci("-vvv", "-s", "1a:01.0").out
    shell("setpci", "-s", "28:00.0", "68.w=2000:7000")
    assert "MaxReadReq 512 bytes" in lspci("-vv", "-s", "28:00.0").out
    shell.node.boots += 1
    assert shell("setpci", "-s", "1a:01.0", "ECAP_ACS+0x6.w").out == "001d\n"


@pytest.mark.parametrize(
    ("argv", "status"),
    [
        (("-s", "1a:01.0", "BRIDGE_CONTROL=40:40"), 125),
        (("-s", "1b:00.0", "ECAP_ACS+6.w"), 1),
        (("-s", "1b:00.0", "NO_SUCH_NAME"), 1),
        (("VENDOR_ID",), 1),
        (("-s", "77:00.0", "VENDOR_ID"), 0),
    ],
)
def test_what_cannot_be_is_refused(argv, status, shell):
    """A reset by the bridge is not imitated; a register that is none is an error."""
    said = shell("setpci", *argv)
    assert (said.status, said.out) == (status, "")
    assert said.err
