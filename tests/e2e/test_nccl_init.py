"""The ranks of a job do not come together, and a runbook mends why: the card's fourth case."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
WRONG = Path(__file__).parent / "wrong"
CASE = ROOT / "scenarios" / "card" / "nccl-init-failure.yaml"
FIRST, SECOND, LOG, RUNS = "hosts-loopback", "interface-missing", "{log: ", "{state: {job: train"

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user may read."""
    with tempfile.TemporaryDirectory(prefix="gt-nccl-") as name:
        path = Path(name)
        path.chmod(0o777)
        yield path


@pytest.fixture
def run(folder: Path) -> Run:
    """Run the case with a runbook: ``run(who, runbook, {"on: n1, ": ""})`` changes its text."""

    def test(who: Any, runbook: Path, changes: dict[str, str] | None = None) -> dict[str, Any]:
        text = CASE.read_text(encoding="utf-8").replace("gpus: 8", "gpus: 2")
        for old, new in {"runbooks/mend-nccl-init.sh": "./runbook", **(changes or {})}.items():
            assert old in text
            text = text.replace(old, new)
        (folder / CASE.name).write_text(text, encoding="utf-8")
        shutil.copy(runbook, folder / "runbook")
        report = folder / "report.json"
        done = who.gpuchaos("test", str(folder / CASE.name), "--json", str(report))
        assert report.exists(), done.stdout + done.stderr
        told: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return {**told, "status": done.returncode, "printed": done.stdout + done.stderr}

    return test


def failed(told: dict[str, Any]) -> list[str]:
    return [one["text"] for one in told["expectations"] if not one["ok"]]


def each_is_one_of(texts: list[str], parts: tuple[str, ...]) -> bool:
    return len(texts) == len(parts) and all(any(part in text for text in texts) for part in parts)


MEND = ROOT / "scenarios" / "card" / "runbooks" / "mend-nccl-init.sh"


def test_the_runbook_of_the_case_passes(who, run):
    """As root and as a plain user: files are edited, the job runs again, nothing else happens."""
    told = run(who, MEND)
    assert told["verdict"] == "pass", told["printed"]


def test_doing_nothing_fails(me, folder, run):
    """The job stays down, and the second thing that is wrong never shows."""
    nothing = folder / "nothing"
    nothing.write_text("#!/bin/sh\ntrue\n", encoding="utf-8")
    nothing.chmod(0o755)
    told = run(me, nothing)
    assert told["verdict"] == "fail", told["printed"]
    assert each_is_one_of(failed(told), (SECOND, LOG, RUNS)), told["printed"]


def test_without_the_faults_there_is_nothing_to_mend(me, run):
    """A drill in which nothing breaks fails: its incidents never open."""
    lines = CASE.read_text(encoding="utf-8").splitlines()
    faults = {f"{line}\n": "" for line in lines if "file: " in line or "env: " in line}
    assert len(faults) == 2
    told = run(me, MEND, faults)
    assert told["verdict"] == "fail", told["printed"]
    assert each_is_one_of(failed(told), (FIRST, SECOND, LOG, "{runbook: ")), told["printed"]


def test_mending_only_the_first_thing_fails_at_the_job(me, run):
    """What shows next is noticed, and the job that was to run does not."""
    told = run(me, WRONG / "mend-only-the-hosts-file.sh")
    assert told["verdict"] == "fail", told["printed"]
    assert each_is_one_of(failed(told), (RUNS,)), told["printed"]


def test_mending_the_node_that_complains_fails(me, run):
    """The ranks that cannot connect say so, and the hosts file that misled them is another's."""
    told = run(me, WRONG / "mend-the-node-that-complains.sh", {"on: n1, ": ""})
    assert told["verdict"] == "fail", told["printed"]
    assert each_is_one_of(failed(told), (SECOND, LOG, RUNS, "{touched: ")), told["printed"]
