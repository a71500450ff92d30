"""An Ansible playbook as the runbook under test."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

PLAYBOOKS = Path(__file__).parent / "playbooks"


@pytest.mark.skipif(shutil.which("ansible-playbook") is None, reason="ansible-playbook is not here")
def test_a_playbook_is_judged_like_any_runbook(me, tmp_path):
    """Its modules call the node's commands, and its pauses and retries are the run's."""
    me.env["PATH"] = os.environ["PATH"]
    journal = tmp_path / "journal.jsonl"
    scenario = PLAYBOOKS / "gsp-burst-drain.yaml"
    done = me.gpuchaos("test", str(scenario), "--journal", str(journal), timeout_s=300)
    assert done.returncode == 0, done.stdout
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    actions = [record["action"] for record in records if record["event"] == "action"]
    assert actions[:2] == ["drain", "requeue"]
