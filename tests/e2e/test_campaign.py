"""Campaigns that try somebody's runbook: a wrong one is found out, the right one passes."""

from __future__ import annotations

import re

import pytest

CAREFUL = """\
scontrol update nodename="$1" state=drain reason=trouble
for job in $(squeue -h -w "$1" -o %i); do scontrol requeue "$job"; done
for _ in $(seq 60); do
    [ "$(sinfo -h -n "$1" -o %t)" = drain ] && break
    sleep 10
done
[ "$(sinfo -h -n "$1" -o %t)" = drain ] && reboot
"""
FOR_ONE_GPU = f"""\
[ "$2" = 0 ] || {{ reboot; exit; }}
{CAREFUL}"""
VARIED = """\
scenario: drill
why: Whichever GPU asks for a reset, it has one.
given:
  fleet: {nodes: 1, gpus: 2, model: l4, scheduler: slurm}
timeline:
  - {id: stuck, at: 30s, xid: {gpu: n0/0, code: 119}}
runbook: {run: ./fix.sh, args: ["{node}", "{gpu}"], when: GpuResetRequired}
expect:
  - {incident: GpuResetRequired, within: 1m}
  - {state: {gpu: "n0/*", state: ok}, within: 10m, hold: 1m}
allow: [GpuXid]
vary: {stuck.xid.gpu: any}
"""


@pytest.fixture
def folder(me, tmp_path):
    """Where the runbook lies, and where the command is called."""
    me.cwd = tmp_path
    return tmp_path


def runbook(folder, script):
    """An operator's script."""
    path = folder / "fix.sh"
    path.write_text(f"#!/bin/bash\n{script}", encoding="utf-8")
    path.chmod(0o755)
    return path


def smallest(done):
    """The scenario that a campaign prints at its end."""
    return done.stdout.partition("fails like it:\n\n")[2]


def test_a_runbook_that_minds_one_gpu_alone_fails_on_random_faults(me, folder):
    """It drains for GPU 0, and reboots without for every other one: one fault suffices to show it,
    and what is printed fails again when it is saved.
    """
    script = runbook(folder, FOR_ONE_GPU)
    done = me.gpuchaos("campaign", "--runbook", str(script), "--runs", "20", timeout_s=300)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "NOT MET {never: {action: reboot}, until: {node: n0, is: drained}}" in done.stdout
    assert "campaign.yaml:11:5" in done.stdout
    text = smallest(done)
    entries = [line for line in text.splitlines() if line.startswith("  - {at: ")]
    assert len(entries) == 1
    (folder / "campaign.yaml").write_text(text, encoding="utf-8")
    again = me.gpuchaos("test", "campaign.yaml", timeout_s=120)
    assert again.returncode == 1, again.stdout + again.stderr


def test_a_runbook_that_minds_the_node_passes_on_random_faults(me, folder):
    """The same seeds, and the script that drains whatever GPU it is."""
    script = runbook(folder, CAREFUL)
    done = me.gpuchaos("campaign", "--runbook", str(script), "--runs", "3", timeout_s=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 runs, seeds 0 to 2: none failed.\nThe runbook was started " in done.stdout


def test_a_runbook_that_gives_up_is_told_though_it_harms_nothing(me, folder):
    """How often it was started, and how it ended, is printed; the report is on all runs."""
    script = runbook(folder, "exit 3\n")
    words = ("campaign", "--runbook", str(script), "--runs", "2", "--json", "all.json")
    done = me.gpuchaos(*words, timeout_s=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"The runbook was started [1-9]\d* times: [1-9]\d* x exit 3\.", done.stdout)
    assert (folder / "all.json").read_text(encoding="utf-8").count('"verdict": "pass"') >= 2


@pytest.mark.parametrize(("index", "passes"), [("0", False), ("$2", True)])
def test_a_reset_of_one_index_fails_where_the_gpu_varies(me, folder, index, passes):
    """What is right as it is written may be wrong of any other GPU."""
    stop = "systemctl stop dcgm-exporter nvidia-dcgm"
    runbook(folder, f"{stop}\nnvidia-smi -i {index} -pm 0\nnvidia-smi -i {index} -r\n")
    (folder / "drill.yaml").write_text(VARIED, encoding="utf-8")
    written = me.gpuchaos("test", "drill.yaml", timeout_s=120)
    assert written.returncode == 0, written.stdout + written.stderr
    done = me.gpuchaos("campaign", "drill.yaml", "--runs", "4", timeout_s=300)
    assert done.returncode == (0 if passes else 1), done.stdout + done.stderr
    if not passes:
        assert "NOT MET {state: {gpu: " in done.stdout
        assert "xid: {gpu: n0/1, code: 119}" in smallest(done)
