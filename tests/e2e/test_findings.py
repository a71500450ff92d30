"""What a report says of a runbook that works by luck."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SCENARIO = """\
scenario: drill
why: One GPU asks for a reset; a runbook does it, and should not rely on how.
given:
  fleet: {nodes: 2, gpus: 2, model: l4, scheduler: slurm}
  jobs: [{id: train, gpus: "n0/0", memory: 4GiB}]
timeline:
  - {at: 5s, xid: {gpu: n0/1, code: 119}}
runbook: {run: ./runbook, args: ["{gpu}"], when: GpuResetRequired, exit: 0}
expect:
  - {action: reset_gpu, gpu: n0/1, within: 10m}
allow: [GpuResetRequired, GpuXid, JobFailed]
"""

LUCKY = """\
#!/bin/sh
/usr/bin/nvidia-smi -L
sleep 120
systemctl stop dcgm-exporter nvidia-dcgm
nvidia-smi -i "$1" -pm 0
nvidia-smi -i "$1" -r
systemctl start nvidia-dcgm dcgm-exporter
nvidia-smi -i 7 -q
exit 0
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with the scenario and its runbook in it."""
    with tempfile.TemporaryDirectory(prefix="gt-lucky-") as name:
        path = Path(name)
        path.chmod(0o755)
        (path / "drill.yaml").write_text(SCENARIO, encoding="utf-8")
        (path / "runbook").write_text(LUCKY, encoding="utf-8")
        (path / "runbook").chmod(0o755)
        yield path


def test_every_form_of_report_says_what_it_should_not_rely_on(me, folder):
    """It passes all the same; the journal alone says so again."""
    forms = {form: folder / f"report.{form}" for form in ("json", "md", "html", "junit")}
    words = [word for form, path in forms.items() for word in (f"--{form}", str(path))]
    journal = folder / "journal.jsonl"
    done = me.gpuchaos("test", str(folder / "drill.yaml"), "--journal", str(journal), *words)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(forms["json"].read_text(encoding="utf-8"))["findings"]
    slugs = [one["finding"] for one in told]
    assert sorted(slugs) == [
        "absolute-path",
        "acted-before-drain",
        "evidence-lost",
        "failed-open",
        "slept-blindly",
    ]
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    events = {one["finding"]: lines[one["line"] - 1] for one in told}
    assert events["acted-before-drain"]["action"] == "reset_gpu"
    assert events["absolute-path"]["argv"][0] == "/usr/bin/nvidia-smi"
    assert events["slept-blindly"]["argv"] == ["sleep", "120"]
    again = me.gpuchaos("report", str(journal)).stdout
    for text in (done.stdout, again, *(path.read_text("utf-8") for path in forms.values())):
        assert all(slug in text for slug in slugs)
