"""Commands that tell of the server itself, beside the real ones where those are installed."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from base64 import b64decode

import pytest

from fakes.driver.xid import raise_xid


def real(*argv):
    """What a real program prints, of the machine that this runs on."""
    if shutil.which(argv[0]) is None:
        pytest.skip(f"no {argv[0]} here")
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{argv[0]} does not work here")
    return done.stdout.splitlines()


def test_processors_are_described_as_lscpu_does(shell):
    """Labels are real ones, in their order; values begin in the real column."""
    ours = shell("lscpu").lines
    theirs = {line.partition(":")[0]: line for line in real("lscpu")}
    labels = [line.partition(":")[0] for line in ours]
    shared = [label for label in labels if label in theirs]
    assert len(shared) > 12
    assert shared == [label for label in theirs if label in shared]
    width = len(re.match(r"CPU\(s\): +", ours[labels.index("CPU(s)")])[0])
    assert all(line[width - 1] == " " and line[width] != " " for line in ours)
    assert "On-line CPU(s) list:             0-223" in ours
    assert "NUMA node1 CPU(s):               56-111,168-223" in ours


def test_processors_are_told_to_programs(shell):
    """As JSON, and a line each in the real columns."""
    told = json.loads(shell("lscpu", "-J").out)["lscpu"]
    assert {"field": "Socket(s):", "data": "2"} in told
    lines = shell("lscpu", "-p=CPU,NODE").lines
    assert lines[3:5] == ["# CPU,Node", "0,0"]
    assert lines[-1] == "223,1"
    comments = [line for line in real("lscpu", "-p=CPU,NODE") if line.startswith("#")]
    assert lines[:4] == comments


def test_numa_nodes_are_listed_as_numactl_does(shell):
    """The real lines, without their numbers."""
    ours = shell("numactl", "-H").lines
    assert ours[0] == "available: 2 nodes (0-1)"

    def form(line):
        return re.sub(r"[\d -]+", "0", line.replace("nodes", "node"))

    assert {form(line) for line in real("numactl", "-H")} <= {form(line) for line in ours}


def test_numactl_runs_programs(make_shell):
    """On whichever node: the program takes its place."""
    shell = make_shell(gpus=1)
    with pytest.raises(LookupError):
        shell("numactl", "--cpunodebind=0", "-m", "0", "true")
    assert shell("numactl", "--frobnicate").status == 125


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("system-product-name", "HGXH100"),
        ("system-manufacturer", "NVIDIA"),
        ("bios-version", "1.5.6"),
    ],
)
def test_the_bios_tells_strings(name, value, shell):
    """One line each; the serial number is the node's own."""
    assert shell("dmidecode", "-s", name).lines == [value]
    serial = shell("dmidecode", "-s", "system-serial-number").out
    assert re.fullmatch(r"\d{14}\n", serial)


def test_the_bios_tells_of_memory_and_processors(shell):
    """Types by name or number; a type that is none is refused."""
    memory = shell("dmidecode", "-t", "memory").lines
    assert memory.count("\tSize: 64 GB") == 32
    assert shell("dmidecode", "-t", "17").lines.count("\tSize: 64 GB") == 32
    assert shell("dmidecode", "-t", "processor").out.count("Xeon(R) Platinum 8480C") == 2
    assert "Invalid type keyword: nothing" in shell("dmidecode", "-t", "nothing").err
    owner = next(iter(shell.node.jobs.values())).user
    assert shell("dmidecode", user=owner).status == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nvidia-persistenced", "nvidia-persistenced:  version 570.124.06"),
        ("nv-fabricmanager", "Fabric Manager version is : 570.124.06"),
        ("nvidia-cuda-mps-control", "570.124.06"),
    ],
)
def test_daemons_tell_their_versions(name, words, shell):
    """That of the driver."""
    assert shell(name, "--version").lines == [words]


def test_a_daemon_that_runs_does_not_run_twice(shell):
    """One that was stopped is started, and its service runs."""
    assert "already running" in shell("nv-fabricmanager").err
    shell.node.services.stop("nvidia-fabricmanager", shell.world)
    assert shell("nv-fabricmanager", "-c", "/etc/fabricmanager.cfg").status == 0
    assert shell.node.services.is_active("nvidia-fabricmanager")


@pytest.mark.parametrize(
    ("argv", "path"),
    [
        ((), "nvidia-bug-report.log.gz"),
        (("--safe-mode", "--output-file", "/tmp/n0.log"), "/tmp/n0.log.gz"),
        (("--output-file=out.gz",), "out.gz"),
    ],
)
def test_a_bug_report_is_a_real_gzip_file(argv, path, shell):
    """With the kernel log of the node in it; the caller's shell writes it."""
    raise_xid(shell.node, shell.node.gpus[3], 79, shell.world.now_us)
    said = shell("nvidia-bug-report.sh", *argv)
    assert said.status == 0
    assert f"The file '{path}' was created." in said.out
    words = shell.spawned[0]
    assert words[4] == path
    text = gzip.decompress(b64decode("".join(words[5:]))).decode()
    assert "NVRM: Xid (PCI:0000:61:00): 79" in text
    assert "0000:61:00.0 NVIDIA H100 80GB HBM3" in text


def test_a_bug_report_that_cannot_be_written_fails(shell):
    """And says so."""
    shell.spawn_status = 1
    said = shell("nvidia-bug-report.sh")
    assert (said.status, "Unable to write" in said.out) == (1, True)


def test_a_written_file_is_what_was_handed_over(tmp_path):
    """However long: a real shell decodes the pieces."""
    from fakes.commands.written_files import write_file

    content = bytes(range(256)) * 1500
    path = tmp_path / "it's a file"

    def spawn(words, for_us):
        return subprocess.run(words, check=False).returncode

    assert write_file(spawn, str(path), content)
    assert path.read_bytes() == content
    assert not write_file(spawn, str(tmp_path / "none" / "file"), content)


@pytest.mark.parametrize(
    ("name", "argv", "words"),
    [
        ("lshw", ("-C", "display"), "product: GH100 [H100 SXM5 80GB]"),
        ("lshw", ("-short",), "GH100 [H100 SXM5 80GB]"),
        ("lstopo-no-graphics", (), "PCI 1b:00.0 (3D)"),
        ("lstopo-no-graphics", ("--of", "console", "--no-io"), "NUMANode L#1 (P#1 "),
        ("sensors", (), "Package id 1:  +59.0°C"),
        ("sensors", ("-j",), '"temp1_input": 59.0'),
        ("smartctl", ("-H", "/dev/nvme0"), "self-assessment test result: PASSED"),
        ("smartctl", ("-a", "/dev/nvme1n1"), "Media and Data Integrity Errors:"),
        ("smartctl", ("--scan",), "/dev/nvme3 -d nvme"),
        ("nvme", ("list",), "/dev/nvme0n1"),
        ("nvme", ("smart-log", "/dev/nvme0"), "media_errors                        : 0"),
        ("nvme", ("list", "-o", "json"), '"DevicePath": "/dev/nvme0n1"'),
    ],
)
def test_other_hardware_is_told_of(name, argv, words, shell):
    """Displays, topology, temperatures, drives."""
    said = shell(name, *argv)
    assert words in said.out
    assert said.status == 0


@pytest.mark.parametrize("name", ["lshw", "lstopo", "sensors", "smartctl", "nvme", "lscpu"])
def test_an_unknown_option_is_125(name, shell):
    """With a line that says which."""
    said = shell(name, "--frobnicate")
    assert (said.status, "not known here" in said.err) == (125, True)
