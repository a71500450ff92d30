"""A runbook under test that reaches for the machine itself: by what it calls, and past it."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

REACHES = {
    "the system call": "python3 -c 'import ctypes, os; libc = ctypes.CDLL(None, use_errno=True);"
    " print(libc.reboot(0x1234567), os.strerror(ctypes.get_errno()))'",
    "the emergency brake": "(echo b > /proc/sysrq-trigger) 2>/dev/null; echo $?",
    "everybody": "bash -c 'kill -9 1' 2>/dev/null; ls -d /proc/1",
    "the home": "rm -rf ~ 2>/dev/null; mkdir -p ~; echo $?",
    "an empty environment": "env -i /usr/bin/nvidia-smi -L | wc -l",
    "another shell": "bash -lc 'nvidia-smi -L' | wc -l",
    "find": "find /etc/passwd -exec nvidia-smi -L \\; | wc -l",
    "xargs": "echo -L | xargs nvidia-smi | wc -l",
    "nohup": "nohup nvidia-smi -L 2>/dev/null | wc -l",
    "execv": 'python3 -c \'import os; os.execv("/usr/bin/nvidia-smi", ["x", "-L"])\' | wc -l',
    "the system": "touch /usr/bin/gt-reach /etc/gt-reach 2>/dev/null; echo $?",
}
SAYS = {
    "the system call": "-1 Operation not permitted",
    "the emergency brake": "1",
    "everybody": "/proc/1",
    "the home": "[01]",
    "the system": "[01]",
    **dict.fromkeys(
        ("an empty environment", "another shell", "find", "xargs", "nohup", "execv",
        ), "8",
    ),
}  # fmt: skip


def _state() -> str:
    """What must not change of this machine: its programs and configuration, and their times."""
    digest = hashlib.sha256()
    for folder in ("/usr/bin", "/usr/sbin", "/etc"):
        for path in sorted(Path(folder).iterdir()):
            facts = path.lstat()
            digest.update(f"{path} {facts.st_mode} {facts.st_size} {facts.st_mtime_ns}".encode())
    return digest.hexdigest()


def test_a_runbook_reaches_nothing_of_the_machine(who, rehearse):
    """Whichever way it goes, it meets the node's own commands, or is refused."""
    before, up = _state(), Path("/proc/sys/kernel/random/boot_id").read_text()
    home = Path(who.env.get("HOME", os.environ.get("HOME", "/root")))
    there = {path.name for path in home.iterdir()} if home.is_dir() else set()
    lines = [f"echo '{name}:' $({script})" for name, script in REACHES.items()]
    done = rehearse(who, "\n".join([*lines, "exit 3"]), "  - {exit: 0, within: 9m}\n")
    said = dict(re.findall(r"^\s+\| ([\w ]+): ?(.*)$", done.printed, re.MULTILINE))
    for name, expected in SAYS.items():
        assert re.fullmatch(expected, said[name].strip()), (name, said[name], done.printed)
    assert _state() == before
    assert Path("/proc/sys/kernel/random/boot_id").read_text() == up
    assert there <= {path.name for path in home.iterdir()} if home.is_dir() else not there


def test_killing_everybody_reaches_the_node_alone(me, rehearse):
    """``kill -9 -1`` ends the jobs' processes, and the runbook, and nobody else."""
    done = rehearse(me, "kill -9 -1", "  - {action: kill, within: 3m}\n", runbook="exit: 137")
    assert done.status in (0, 1, 2), done.printed
    assert "our own fault" not in done.printed


def test_what_nobody_understands_is_loud(me, rehearse):
    """An option, a program under a name that none has: 125, and the verdict is unknown."""
    script = "sleep --no-such-option; cp /usr/bin/nvidia-smi /tmp/other; /tmp/other -L; exit 0"
    done = rehearse(me, script, "  - {exit: 0, within: 3m}\n")
    assert done.status == 2, done.printed
    assert "sleep --no-such-option" in done.printed
    assert "/tmp/other -L" in done.printed
    assert [one["exit"] for one in done.of("return")] == [125]


def test_a_reboot_by_its_path_is_the_nodes(me, rehearse):
    """No program of the machine's is reached by it."""
    up = Path("/proc/sys/kernel/random/boot_id").read_text()
    reboots = "  - {action: reboot, node: n0, within: 3m}\n"
    done = rehearse(me, "/sbin/reboot; sleep 1h", reboots, runbook="on: n0")
    assert done.of("action")[0]["action"] == "reboot", done.printed
    assert Path("/proc/sys/kernel/random/boot_id").read_text() == up
