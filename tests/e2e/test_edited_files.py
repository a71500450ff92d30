"""Files of a node that its programs edit, and what comes of it."""

from __future__ import annotations

from pathlib import Path

SCRIPT = """\
set -e
getent hosts n0
sed -i 's/^10.0.0.1 /127.0.1.1 /' /etc/hosts
getent hosts n0
sed 's/^127.0.1.1 /10.9.9.9 /' /etc/hosts > /tmp/hosts
mv /tmp/hosts /etc/hosts
hostname -i
echo '10.8.8.8 other' >> /etc/hosts
getent hosts other
rm /etc/hosts
getent hosts n0 || echo gone $?
echo NCCL_DEBUG=INFO > /etc/nccl.conf
echo 'options nvidia NVreg_EnableGpuFirmware=0' > /etc/modprobe.d/nvidia.conf
cat /etc/modprobe.d/nvidia.conf
cat /etc/hostname
"""


def test_files_of_a_node_can_be_edited(who):
    """By an editor, a redirection, a rename or a removal; the machine's stay as they are."""
    before = Path("/etc/hosts").read_bytes()
    done = who.on_node(SCRIPT)
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["10.0.0.1", "n0"],
        ["127.0.1.1", "n0"],
        ["10.9.9.9"],
        ["10.8.8.8", "other"],
        ["gone", "2"],
        ["options", "nvidia", "NVreg_EnableGpuFirmware=0"],
        ["n0"],
    ]
    assert Path("/etc/hosts").read_bytes() == before
    assert not Path("/etc/nccl.conf").exists()


def test_a_fault_of_a_file_is_seen_at_once_and_healed(me):
    """Injected by hand into a node that runs; what somebody has changed since is not taken back."""
    me.start_node()
    path = ("node=n0", "path=/etc/hosts")
    me.gpuchaos("inject", "file", *path, "replace=10.0.0.1 n0", "with=127.0.1.1 n0")
    assert me.gpuchaos("enter", "--", "cat", "/etc/hosts").stdout.endswith("127.0.1.1 n0\n")
    me.gpuchaos("heal", "all")
    assert me.gpuchaos("enter", "--", "cat", "/etc/hosts").stdout.endswith("10.0.0.1 n0\n")
    me.gpuchaos("inject", "file", *path, "content=nothing")
    me.gpuchaos("enter", "--", "sh", "-c", "echo mine > /etc/hosts")
    me.gpuchaos("heal", "all")
    assert me.gpuchaos("enter", "--", "cat", "/etc/hosts").stdout == "mine\n"


def test_a_link_of_a_programs_leads_the_simulator_nowhere(me, tmp_path):
    """A file of the machine's is not written through a link that was put in a file's place."""
    victim = tmp_path / "victim"
    victim.write_text("as it was", encoding="utf-8")
    me.start_node()
    me.gpuchaos("enter", "--", "sh", "-c", f"rm /etc/hosts; ln -s {victim} /etc/hosts")
    me.gpuchaos("enter", "--", "sh", "-c", f"rm -r /etc/slurm; ln -s {tmp_path} /etc/slurm")
    me.gpuchaos("inject", "file", "node=n0", "path=/etc/hosts", "content=10.0.0.9 n9")
    me.gpuchaos("inject", "file", "node=n0", "path=/etc/slurm/victim", "content=changed")
    assert victim.read_text(encoding="utf-8") == "as it was"
    assert me.gpuchaos("enter", "--", "cat", "/etc/hosts").stdout == "10.0.0.9 n9\n"
    assert me.gpuchaos("enter", "--", "cat", "/etc/slurm/victim").stdout == "changed\n"
