"""A runbook that works on other nodes of its run, and hands scripts to the scheduler."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SCENARIO = """\
scenario: other-nodes
why: The operator's script asks other nodes, and lets the scheduler run a check.
given:
  fleet: {nodes: 3, gpus: 2, model: h100-sxm, scheduler: slurm}
timeline:
  - {id: burst, at: 10s, xid: {code: 119, gpu: n0/1}}
runbook: {run: ./look.sh, when: GpuResetRequired, exit: 0}
expect:
  - {incident: GpuResetRequired, gpu: n0/1, within: 30s}
  - {action: submit, within: 1m}
stop: {after: 5m}
"""

RUNBOOK = """\
#!/bin/bash
set -eu
ssh n1 'nvidia-smi -L | wc -l'
pdsh -w n[1-2] hostname
ssh -o ConnectTimeout=5 nosuch true 2>&1 || echo "ssh $?"
srun -N2 -l -x n0 hostname
cat >/tmp/job.sh <<'END'
#!/bin/bash
#SBATCH -J check
#SBATCH -w n0
#SBATCH -o /tmp/out-%j
echo "job $SLURM_JOB_ID on $SLURM_JOB_NODELIST"
sleep 45
exit 4
END
job=$(sbatch --parsable /tmp/job.sh)
sleep 60
cat "/tmp/out-$job"
sacct -X -n -P -j "$job" -o jobname,state,exitcode,elapsed
"""

PRINTED = """\
2
n1: n1
n2: n2
ssh: Could not resolve hostname nosuch: Name or service not known
ssh 255
0: n1
1: n2
job 1002 on n0
check|FAILED|4:0|00:00:45
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """The scenario, with its runbook beside it."""
    file = tmp_path / "other-nodes.yaml"
    file.write_text(SCENARIO)
    (tmp_path / "look.sh").write_text(RUNBOOK)
    (tmp_path / "look.sh").chmod(0o755)
    tmp_path.chmod(0o755)
    return file


def test_commands_run_for_other_nodes_and_scripts_by_the_scheduler(me, scenario: Path) -> None:
    """Look-alikes answer for the node that was asked; a batch script really runs."""
    report = scenario.parent / "report.json"
    ended = me.gpuchaos("test", str(scenario), "--json", str(report))
    told = json.loads(report.read_text().splitlines()[0])
    assert told["output"] == PRINTED, ended.stdout
    assert "UNKNOWN" not in ended.stdout
