"""mount, df, findmnt, mountpoint and free; shapes against the machine's own."""

import json
import re
import shutil
import subprocess

import pytest

from fakes.commands.registry import NOT_UNDERSTOOD
from fakes.system.storage import Trouble


def test_what_is_mounted_is_told_alike_by_all(machine):
    """mount, df, findmnt and mountpoint agree."""
    assert (
        "head:/export/home on /home type nfs4 (rw,relatime,vers=4.2,hard)\n"
        in (machine("mount", "-t", "nfs4")[1])
    )
    assert machine("findmnt", "-n", "-o", "SOURCE", "/home") == (0, "head:/export/home\n")
    assert machine("mountpoint", "/home") == (0, "/home is a mountpoint\n")
    assert machine("mountpoint", "-q", "/opt") == (32, "")
    rows = machine("df", "-h", "/mnt/data/train")[1].splitlines()
    assert rows[1].split() == [
        "10.0.254.1@o2ib:/data", "900T", "511T", "389T", "57%", "/mnt/data",
    ]  # fmt: skip
    assert machine("findmnt", "/nowhere") == (1, "")


def test_findmnt_in_json(machine):
    """As programs read it."""
    told = json.loads(machine("findmnt", "-J", "-T", "/raid/cache")[1])
    assert told["filesystems"][0]["target"] == "/raid"


@pytest.mark.parametrize(
    ("trouble", "argv", "status", "said"),
    [
        (Trouble.STALE, ("df", "/mnt/data"), 1, "df: /mnt/data: Stale file handle\n"),
        (Trouble.STALE, ("mountpoint", "/mnt/data"), 1,
         "mountpoint: /mnt/data: Stale file handle\n"),
        (Trouble.FULL, ("df", "--block-size=M", "-P", "/mnt/data"), 0, " 100% /mnt/data\n"),
        (Trouble.READ_ONLY, ("findmnt", "-no", "OPTIONS", "/mnt/data"), 0, "ro,flock\n"),
    ],
)  # fmt: skip
def test_a_file_system_in_trouble_shows(machine, trouble, argv, status, said):
    """Each in its own way."""
    machine.node.storage.set_trouble("/mnt/data", trouble)
    got, printed = machine(*argv)
    assert (got, printed.endswith(said)) == (status, True)


@pytest.mark.parametrize("options", [(), ("-h",), ("-P",), ("-T",), ("-hT",), ("-m",)])
def test_the_heading_of_df_is_the_real_ones(machine, options):
    """The same columns in the same order."""
    if shutil.which("df") is None:
        pytest.skip("there is no df here")
    real = subprocess.run(
        ["df", *options, "/"], capture_output=True, text=True, check=True, env={"LC_ALL": "C"}
    ).stdout
    own = machine("df", *options, "/")[1]
    assert own.splitlines()[0].split() == real.splitlines()[0].split()
    assert len(own.splitlines()[1].split()) == len(real.splitlines()[1].split())


def test_free_is_as_procps_prints_it(machine):
    """The machine's memory; its rows and columns are where scripts look."""
    rows = machine("free", "-g")[1].splitlines()
    assert rows[0].split() == ["total", "used", "free", "shared", "buff/cache", "available"]
    assert re.fullmatch(r"Mem:\s+2031\s+24\s+\d+\s+0\s+64\s+\d+", rows[1])


@pytest.mark.parametrize(
    "argv", [("mount", "/dev/sdb1", "/mnt"), ("df", "-i"), ("findmnt", "-o", "NO_SUCH")]
)
def test_what_is_not_known_is_125(machine, argv):
    """Mounting, inodes, columns that there are not."""
    assert machine(*argv)[0] == NOT_UNDERSTOOD
