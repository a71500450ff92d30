"""Sub-commands of nvidia-smi beside what the real one printed, and on broken links."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from fakes.hardware.gpu import Lookup, Lost


@pytest.fixture
def eight(make_smi):
    """Eight GPUs under a job."""
    return make_smi(gpus=8)


def test_links_are_listed_as_the_real_command_lists_them(on_h100, h100):
    """The heading but for the UUID, and each link's speed."""
    said = on_h100(idle=True)("nvlink", "-s")
    assert said.lines[1:] == h100["capabilities", "nvlink -s"].splitlines()[1:]
    assert said.lines[0].startswith("GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-")


def test_a_link_that_is_down_is_inactive(smi):
    """It has no speed, and the others keep theirs."""
    smi.rig.node.gpus[1].nvlinks[3].up = False
    lines = smi("nvlink", "--status", "-i", "1").lines
    assert lines[4] == "\t Link 3: <inactive>"
    assert sum("26.562 GB/s" in line for line in lines) == 17


def test_a_gpu_without_links_that_are_up_says_so(make_smi, captured):
    """In the words of a card without NVLink."""
    words = captured("geforce")["capabilities", "nvlink -s"].splitlines()[1]
    assert make_smi(model="l4", gpus=1)("nvlink", "-s").lines[1] == words


def test_errors_of_links_are_three_lines_each(smi):
    """What stands behind the last colon is a number."""
    smi.rig.node.gpus[0].nvlinks[2].crc = 7
    smi.rig.node.gpus[0].nvlinks[2].replays = 5
    lines = [line for line in smi("nvlink", "-e", "-i", "0").lines if "Errors:" in line]
    assert len(lines) == 3 * 18
    assert lines[6:9] == [
        "\t Link 2: Replay Errors: 5", "\t Link 2: Recovery Errors: 0", "\t Link 2: CRC Errors: 7",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (("-p",), "\t Link 5: 00000000:06:00.0"),
        (("-R",), "\t Link 5: Remote Device 00000000:06:00.0: Link 1"),
        (("-ec",), "\t Link 5: CRC Errors: 0"),
        (("-c",), "\t Link 5, P2P is supported: true"),
    ],
)
def test_far_ends_and_capabilities(argv, line, smi):
    """A line for the sixth link of the first GPU."""
    assert line in smi("nvlink", *argv, "-i", "0").lines


def test_throughput_is_told_in_both_kinds(smi):
    """Data, and with what the protocol adds."""
    lines = smi("nvlink", "-gt", "rd", "-i", "0", "-l", "4").lines[1:]
    assert [re.sub(r"\d+ KiB", "N KiB", line) for line in lines] == [
        "\t Link 4: Data Tx: N KiB", "\t Link 4: Data Rx: N KiB",
        "\t Link 4: Raw Tx: N KiB", "\t Link 4: Raw Rx: N KiB",
    ]  # fmt: skip


def test_the_matrix_has_the_real_one_s_lines(on_h100, h100):
    """Heading, row and legend of one GPU, but for its processors."""
    real = h100["capabilities", "topo -m"].rstrip("\n").splitlines()
    lines = on_h100(idle=True)("topo", "-m").lines
    assert lines[0] == real[0]
    assert lines[1] == real[1].replace("0-19", "0-55,112-167")
    assert [line for line in lines[2:] if line] == [line for line in real[2:] if line]


def test_gpus_on_switches_are_joined_by_all_their_links(eight):
    """As many as are up at the end that has fewer; processors are those of the socket."""
    eight.rig.node.gpus[2].nvlinks[0].up = False
    rows = [line.split("\t") for line in eight("topo", "-m").lines[1:9]]
    assert rows[0][1:4] == [" X ", "NV18", "NV17"]
    assert rows[7][9:] == ["56-111,168-223", "1", "", "N/A"]


def test_adapters_have_rows_columns_and_a_legend(eight):
    """The nearest shares a bridge with its GPU."""
    said = eight("topo", "-m", nics=(("mlx5_0", 0), ("mlx5_1", 1)))
    assert "NIC0\tNIC1\tCPU Affinity" in said.lines[0]
    assert said.lines[1].split("\t")[9:11] == ["PXB", "SYS"]
    assert said.lines[9].split("\t")[:2] == ["NIC0", "PXB"]
    assert said.lines[-4:] == ["", "  NIC0: mlx5_0", "  NIC1: mlx5_1", ""]


def test_cards_without_links_are_joined_by_the_bus(make_smi):
    """NODE on one socket, SYS across."""
    rows = [line.split("\t") for line in make_smi(model="l4", gpus=8)("topo", "-m").lines[1:9]]
    assert (rows[0][2], rows[0][8]) == ("NODE", "SYS")


def test_peers_can_all_reach_each_other(eight):
    """A matrix of OK; with a capability that is none, status 2."""
    lines = eight("topo", "-p2p", "n").lines
    assert lines[1] == " GPU0\tX" + "\tOK" * 7 + "\t"
    assert "  NS   = Not supported" in lines
    assert eight("topo", "-p2p", "z").status == 2


def shape(text: str) -> str:
    return re.sub(r" +[0-9-]+", " 0", text)


@pytest.mark.parametrize("state", ["idle", "load"])
def test_device_monitoring_has_the_real_columns(state, on_h100, h100):
    """Headings to the letter, numbers in their columns."""
    real = h100[state, "dmon (per-device monitor, incl. PCIe rx/tx)"].splitlines()
    lines = on_h100(idle=state == "idle")("dmon", "-c", "1").lines
    assert lines[:2] == real[:2]
    assert len(lines[2]) == len(real[2])
    assert shape(lines[2]) == shape(real[2])


@pytest.mark.parametrize("state", ["idle", "load"])
def test_process_monitoring_has_the_real_columns(state, on_h100, h100):
    """Headings to the letter; a GPU without processes is a line of dashes."""
    real = h100[state, "pmon (per-process monitor)"].splitlines()
    lines = on_h100(idle=state == "idle")("pmon", "-c", "1").lines
    assert lines[:2] == real[:2]
    if state == "idle":
        assert lines[2:] == real[2:3]
    else:
        assert re.match(r" {4}0 {7}\d{4} {5}C {5}\d\d {5}\d\d( {6}-){4} {4}python3 {8}$", lines[2])


def test_monitoring_goes_on_as_often_as_it_is_told(smi):
    """So many rounds, so many seconds apart, read anew."""
    said = smi("dmon", "-s", "pucvmet", "-d", "10", "-c", "3", pause=smi.paused_us.append)
    assert len(said.lines) == 2 + 3 * 2
    assert smi.paused_us == [10_000_000] * 2
    assert said.lines[0] == (
        "# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa   mclk   pclk  pviol"
        "  tviol     fb   bar1   ccpm  sbecc  dbecc    pci  rxpci  txpci "
    )


def test_a_lost_gpu_ends_sub_commands_too(eight):
    """As it ends any other call about all GPUs."""
    eight.rig.node.gpus[3].lost = Lost(0, Lookup.LOST)
    for argv in (("nvlink", "-s"), ("topo", "-m"), ("dmon", "-c", "1"), ("pmon", "-c", "1")):
        said = eight(*argv)
        assert "0000:61:00.0: GPU is lost.  Reboot the system to recover this GPU" in said.out
        assert said.status == 15


@pytest.mark.parametrize("argv", [("-lgip",), ("-lgi",), ("-lci",), ("-cgi", "19,19", "-C")])
def test_without_mig_there_are_no_instances(argv, smi):
    """Status 6, whatever is asked about them."""
    said = smi("mig", *argv)
    assert (said.out, said.status) == ("No MIG-enabled devices found.\n", 6)


def test_with_mig_there_are_none_yet(make_smi):
    """Making them is not imitated, and said so."""
    smi = make_smi(gpus=1, idle=True)
    assert smi("-mig", "1").lines == ["Enabled MIG Mode for GPU 00000000:1B:00.0", "All done."]
    assert smi("mig", "-lgi").out == "No GPU instances found: Not Found\n"
    for argv in (["-cgi", "19"], ["-cgi", "9", "-C"], ["-cci"], ["-lgip"], ["-lgipp"], ["-lcip"]):
        said = smi("mig", *argv)
        assert said.status == 125
        assert said.err == f"nvidia-smi: mig {' '.join(argv)} is not imitated by this look-alike\n"
    assert smi("nvlink", "-s").lines[1].startswith("Nvlink queries are not supported")


@pytest.mark.parametrize(
    ("argv", "out", "status"),
    [
        (("conf-compute", "-f"), "CC status: OFF\n", 0),
        (("vgpu", "-q"), "No supported devices in vGPU mode\n", 0),
        (
            ("drain", "-p", "0000:1b:00.0", "-q"),
            "The current drain state of GPU 00000000:1B:00.0 is: not draining.\n",
            0,
        ),
    ],
)
def test_what_is_off_is_told_so(argv, out, status, smi):
    """Confidential computing, vGPUs, draining."""
    said = smi(*argv)
    assert (said.out, said.status) == (out, status)


def test_an_option_that_a_sub_command_has_not_is_refused(smi):
    """On stdout, with status 2."""
    assert smi("nvlink", "--frob").status == smi("topo", "-q").status == 2


def test_the_report_is_well_formed_xml(eight):
    """Every GPU an element, with the names that programs look for."""
    said = eight("-q", "-x")
    root = ET.fromstring(said.out)
    assert len(root.findall("gpu")) == 8
    first = root.find("gpu")
    assert first is not None
    for path, value in {
        "uuid": eight.rig.node.gpus[0].uuid,
        "fb_memory_usage/total": "81559 MiB",
        "ecc_errors/volatile/dram_uncorrectable": "0",
        "remapped_rows/remapped_row_pending": "No",
        "gpu_power_readings/default_power_limit": "700.00 W",
        "clocks/sm_clock": "1980 MHz",
        "pci/pci_gpu_link_info/link_widths/current_link_width": "16x",
        "mig_mode/current_mig": "Disabled",
        "processes/process_info/pid": "4001",
        "retired_pages/multiple_single_bit_retirement/retired_count": "N/A",
    }.items():
        assert first.findtext(path) == value


def test_a_report_goes_into_a_file(smi):
    """It is written on the caller's side, in base64 to a shell; nothing is printed."""
    started = []

    def spawn(words, for_us):
        started.append(words)
        return 0

    said = smi("-q", "-f", "/var/tmp/smi.txt", spawn=spawn)
    assert (said.out, said.status) == ("", 0)
    assert started[0][:2] == ["/bin/sh", "-c"]
    assert started[0][4] == "/var/tmp/smi.txt"
