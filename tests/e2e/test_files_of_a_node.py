"""Files that public health checks read, and services, on a live node."""

import csv
import itertools
import os
import re
from pathlib import Path

import pytest

FACTS = Path(os.environ.get("GPUTUI_SHARED_FACTS", Path(__file__).parents[3] / "shared" / "facts"))

PLACEHOLDERS = {
    "BDF": "0000:1b:00.0", "DEV": "mlx5_0", "IF": "eth0", "PID": "self", "N": "1",
    "$(uname -r)": "*", "[0-9]*": "0", "node/node*": "node/node0", "cpu*": "cpu0",
}  # fmt: skip

ABSENT = {
    "/etc/redhat-release": "the node is an Ubuntu",
    "/proc/net/bonding/*": "none of its interfaces is a bond",
    "/proc/sysrq-trigger": "it must not reach the machine",
    "/dev/kmsg": "its kernel log stands in files, and in dmesg",
    "/run/nvidia/driver": "the driver is the host's, and not a container's",
    "/run/nvidia/validations/*": "the same",
    "/var/log/slurmd.log": "it is in /var/log/slurm",
    "/var/log/nhc.log": "nhc has not run",
    "/etc/nhc/nhc.conf": "nhc is not installed",
    "/etc/nhc/scripts/*.nhc": "the same",
    "/var/run/oci-hpc/oci-hpc-rdma-configure.json": "it is nobody's cloud",
    "/etc/opc": "the same",
    "/opt/oci-hpc": "the same",
    "/tmp/*.out": "nobody has written there yet",
    "/var/log/slurm/*": "the same",
    "/var/log/healthchecks/*": "the same",
    "/run/nvidia-persistenced/socket": "its daemon is asked by nobody",
    "/var/run/nvidia-*": "directories of /run, which /var/run is where the machine has it so",
    "/sys/devices/system/cpu/smt": "it is a directory: smt/active",
    "/sys/class/nvme": "as the machine has them",
    "/sys/block": "as the machine has them",
    "/proc/modules": "a kernel without modules has no such file, and none can be made",
    "/lib/modules/*/...nvidia*.ko": "the same",
    "/sys/module/nvidia*/": "a pattern with a directory at its end",
    "/sys/bus/pci/rescan": "kept empty",
}


def braces(text):
    """What a shell makes of braces, one after the other."""
    found = re.search(r"\{([^{}]*)\}", text)
    if found is None:
        return [text]
    parts = (
        braces(text[: found.start()] + part + text[found.end() :]) for part in found[1].split(",")
    )
    return list(itertools.chain.from_iterable(parts))


def paths():
    """Every path that two or more repositories read, with an example in the place of each name."""
    with (FACTS / "paths_used.csv").open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            if int(row["repos_count"]) < 2:
                continue
            for entry in re.split(r", (?=/)", row["path"]):
                for path in braces(entry):
                    for name, example in PLACEHOLDERS.items():
                        pattern = rf"(?<=/){name}(?=/|$)" if name.isalpha() else re.escape(name)
                        path = re.sub(pattern, example, path)
                    if path.startswith("/") and " " not in path:
                        yield path


@pytest.mark.skipif(not (FACTS / "paths_used.csv").is_file(), reason=f"no facts in {FACTS}")
def test_every_path_that_public_scripts_read_is_there(me):
    """Or is absent for a reason, as on a healthy server."""
    wanted = [path for path in dict.fromkeys(paths()) if path not in ABSENT]
    assert len(wanted) > 80
    script = "".join(f"set -- {path}; [ -e \"$1\" ] || echo '{path}';" for path in wanted)
    assert me.on_node(script).stdout.splitlines() == []


def test_files_follow_the_world(me):
    """A module that is taken out is gone from /sys and /proc/driver; loaded, it is back."""
    done = me.on_node(
        "systemctl stop nvidia-persistenced; kill 4001 4002; sleep 0.5;"
        "rmmod gdrdrv nvidia_peermem nvidia_uvm nvidia_drm nvidia_modeset nvidia || exit 1;"
        "ls -d /sys/module/nvidia /proc/driver/nvidia 2>&1 | grep -c 'No such';"
        "modprobe nvidia-uvm; cat /sys/module/nvidia/version;"
        "grep -c NVRM /proc/driver/nvidia/version"
    )
    assert done.stdout.splitlines() == ["2", "570.124.06", "1"], done


def test_a_daemon_is_a_process_and_its_end_its_services(me):
    """It is found by pgrep, kill ends it, systemctl knows; started again it has another PID."""
    done = me.on_node(
        "before=$(pgrep -x slurmd); systemctl show -p MainPID --value slurmd | grep -cx $before;"
        "kill -9 $before; sleep 0.5; systemctl is-active slurmd; systemctl restart slurmd;"
        "[ $(pgrep -x slurmd) != $before ] && systemctl is-active slurmd"
    )
    assert done.stdout.splitlines() == ["1", "failed", "active"], done


def test_a_command_that_is_not_imitated_is_told_by_name(me):
    """It ends with 125, and the run says which it was."""
    done = me.on_node("ibdiagnet -v; echo $?")
    assert done.stdout == "125\n"
    assert "ibdiagnet" in done.stderr
