"""``gputui bundle`` on a fake node."""

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GPUTUI = (sys.executable, "-m", "gputui")
GPUCHAOS = (sys.executable, "-m", "chaos")


def run(*arguments):
    return subprocess.run(
        arguments, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT
    )


@pytest.fixture(scope="module")
def bundled(tmp_path_factory):
    """A bundle of one GPU of a fake node: its files by name, and the archive."""
    folder = tmp_path_factory.mktemp("bundle")
    path = folder / "evidence.tar.gz"
    done = run(
        *GPUCHAOS, "node", "h100-sxm", "--name", f"bundle-{os.getpid()}",
        "--writable", folder, "--",
        *GPUTUI, "bundle", "--gpu", "3", "-o", path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with tarfile.open(path) as tar:
        files = {
            member.name.rpartition("/")[2]: tar.extractfile(member).read().decode()
            for member in tar.getmembers()
        }
    return path, files


def test_it_holds_what_a_ticket_needs(bundled):
    """The board's serial number, readings and incidents of the GPU that was asked for."""
    _, files = bundled
    (board,) = json.loads(files["boards.json"])
    (gpu,) = json.loads(files["reading.json"])["gpus"]
    assert board["gpu"] == gpu["index"] == 3
    assert board["serial"]
    assert json.loads(files["incidents.json"]) == []
    assert "nvidia-smi-q.txt" in files
    assert all(name in files["README.txt"] for name in files if name != "README.txt")


def test_nobody_is_named_in_it(bundled):
    """Neither the host nor the users, nor what processes were started with."""
    _, files = bundled
    reading = json.loads(files["reading.json"])
    assert reading["host"] == "host1"
    assert all(one["user"] is None or one["user"].startswith("user") or one["user"] == "root"
               for one in reading["processes"])  # fmt: skip
    assert all("arguments" in one["command"] for one in reading["processes"])


def test_only_its_owner_may_read_it(bundled):
    """The archive is evidence, not news."""
    path, _ = bundled
    assert path.stat().st_mode & 0o077 == 0


def test_nothing_is_overwritten(bundled):
    """A file that is there already stays as it is."""
    path, _ = bundled
    before = path.read_bytes()
    done = run(*GPUTUI, "bundle", "-o", path)
    assert done.returncode == 2
    assert "there already" in done.stderr
    assert path.read_bytes() == before


def test_a_file_that_cannot_be_written_is_said(tmp_path):
    """With its reason, and without leaving half of it."""
    done = run(*GPUTUI, "bundle", "-o", tmp_path / "none/evidence.tar.gz")
    assert done.returncode == 2
    assert "none/evidence.tar.gz: No such file" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_bad_index_is_bad_usage():
    """One line, exit code 64."""
    done = run(*GPUTUI, "bundle", "--gpu", "x")
    assert done.returncode == 64
    assert done.stderr.count("\n") == 1
