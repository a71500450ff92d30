"""Commands of a fake node, as scripts call them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GPU = r"GPU \d: NVIDIA H100 80GB HBM3 \(UUID: GPU-[0-9a-f-]{36}\)\n"
WAYS = {
    "by its name": "nvidia-smi -L",
    "by its path": "/usr/bin/nvidia-smi -L; /bin/nvidia-smi -L",
    "without an environment": "env -i nvidia-smi -L; env -i /usr/bin/nvidia-smi -L",
    "from a login shell": "bash -lc 'nvidia-smi -L'",
    "by xargs": "echo -L | xargs nvidia-smi; printf '0\\n1\\n' | xargs -n1 nvidia-smi -L -i",
    "by find": "find /usr/bin -name nvidia-smi -exec {} -L ';'",
    "by execv": "$PYTHON -c \"import os; os.execv('/usr/bin/nvidia-smi', ['nvidia-smi', '-L'])\"",
    "under nohup and timeout": "nohup timeout 10 nvidia-smi -L 2>/dev/null",
    "in a pipeline": "nvidia-smi -L | cat | head -n 2",
    "from another directory": "cd /tmp && nvidia-smi -L",
    "after PATH was set anew": "PATH=/sbin:/usr/sbin:/bin:/usr/bin nvidia-smi -L",
    "with a clean hash and no aliases": "hash -r; command nvidia-smi -L",
}


def test_nvidia_smi_is_the_fakes_however_it_is_called(who):
    """One node, all ways; each lists the fake's GPUs and nothing else."""
    who.env["PYTHON"] = who.python
    who.start_node()
    script = "; ".join(f"echo '{way}:'; {call}" for way, call in WAYS.items())
    done = who.gpuchaos("enter", "--", "bash", "-c", script)
    said = dict(re.findall(r"^([a-zPATH ]+):\n((?:(?![a-z]).*\n)*)", done.stdout, re.MULTILINE))
    assert set(said) == set(WAYS), done.stderr
    wrong = [way for way, lines in said.items() if not re.fullmatch(f"(?:{GPU}){{2,}}", lines)]
    assert wrong == [], done


def test_nvidia_smi_and_nvml_agree_on_what_was_just_set(who):
    """A limit set by the command is what a program reads next."""
    read = (
        "import pynvml as n; n.nvmlInit(); h = n.nvmlDeviceGetHandleByIndex(1);"
        "print(n.nvmlDeviceGetPowerManagementLimit(h))"
    )
    done = who.on_node(f"nvidia-smi -i 1 -pl 400 >/dev/null; {who.python} -c '{read}'")
    assert done.stdout == "400000\n", done.stderr


def test_another_nvidia_smi_on_the_path_is_covered(me):
    """Also where the machine, or its user, has one of their own in some directory."""
    tools = Path(me.env["XDG_RUNTIME_DIR"], "home/tools/bin")
    tools.mkdir(parents=True)
    (tools / "nvidia-smi").write_text("#!/bin/sh\necho the real one\n")
    (tools / "nvidia-smi").chmod(0o755)
    me.env.update(HOME=str(tools.parents[1]), PATH=f"{tools}:{me.env['PATH']}")
    done = me.on_node(f"nvidia-smi -L; {tools}/nvidia-smi -L")
    assert re.fullmatch(f"(?:{GPU}){{4}}", done.stdout), done


def test_without_a_sandbox_the_path_alone_leads_to_it(me):
    """``--no-sandbox``: by its name, from the same world."""
    done = me.on_node("nvidia-smi -L", "--no-sandbox")
    assert re.fullmatch(f"(?:{GPU}){{2}}", done.stdout), done


def test_a_call_that_is_not_understood_is_told_at_the_end(me):
    """Exit 125 for the script, and a line for whoever runs the drill."""
    done = me.on_node("nvidia-smi daemon; echo $?")
    assert done.stdout == "125\n"
    assert "gpuchaos: a call was not understood: nvidia-smi daemon (" in done.stderr


def test_a_killed_simulator_ends_a_call(me):
    """A call that waits does not wait for ever."""
    node = me.start_node()
    call = me.start("enter", "--", "nvidia-smi", "-l", "60")
    assert call.stdout is not None
    while "Processes" not in call.stdout.readline():
        assert call.poll() is None
    node.kill()
    assert call.wait(20) != 0


@pytest.mark.long
def test_a_call_takes_a_few_milliseconds(me):
    """A hundred calls in a row: at most 5 ms each, and what starting any program takes."""
    me.start_node()
    code = (
        "import subprocess, time\n"
        "def each_ms(*words):\n"
        "    began = time.perf_counter()\n"
        "    for _ in range(100): subprocess.run(words, stdout=subprocess.DEVNULL)\n"
        "    return (time.perf_counter() - began) * 10\n"
        "print(each_ms('nvidia-smi', '-L') - each_ms('true'))"
    )
    best = min(float(me.gpuchaos("enter", "--", me.python, "-c", code).stdout) for _ in range(3))
    assert best < 5.0
