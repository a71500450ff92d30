from __future__ import annotations

from typing import Any

import pytest

from gputui.model import GpuState, Severity
from gputui.tui.pages import help_page, page_of
from gputui.tui.scene import Scene
from gputui.tui.view import Panel


def page(snapshot: Any, panel: Panel, key: Any, width: int = 100) -> str:
    scene = Scene(snapshot=snapshot, now_s=snapshot.sample.time_s)
    lines = page_of(panel, key)(scene, width)
    assert all(line.width == width for line in lines)
    return "\n".join(line.text.rstrip() for line in lines)


@pytest.mark.parametrize("width", [40, 80, 140])
def test_an_incident_s_page_has_all_its_evidence(make: Any, width: int) -> None:
    """Cause, what to do, every evidence line and what hangs under it, at any width."""
    evidence = tuple(f"NVRM: Xid (PCI:0000:15:00): 79, line {i}" for i in range(5))
    cause = make.incident(evidence=evidence, children=("GpuXid-5",))
    child = make.incident("GpuXid", parent=cause.id, severity=Severity.INFO, cause_text="after 79")
    shown = page(make.snapshot(incidents=[cause, child]), Panel.INCIDENTS, cause.id, width)
    joined = " ".join(shown.split())
    for part in ("what to do", "drain the node and power-cycle it", "fell off the bus", *evidence):
        assert part in joined
    assert "GpuXid" in joined and "after 79" in joined


def test_an_incident_s_page_outlives_it(make: Any) -> None:
    """While it is being read, an incident that is over stays, and says so."""
    incident = make.incident()
    source = page_of(Panel.INCIDENTS, incident.id)
    now_s = make.now_s
    source(Scene(snapshot=make.snapshot(incidents=[incident]), now_s=now_s), 80)
    lines = source(Scene(snapshot=make.snapshot(), now_s=now_s), 80)
    shown = "\n".join(line.text for line in lines)
    assert "fell off the bus" in shown
    assert "; over" in shown


def test_a_gpu_s_page_gives_reasons_in_full(make: Any) -> None:
    """Every reading with its unit; what is missing with NVML's reason."""
    gpu = make.gpu(0, power_mw=None, missing={"power_mw": "not supported"}, return_code=0)
    shown = page(make.snapshot(gpus=[gpu]), Panel.GPUS, 0)
    assert "not supported" in shown
    assert "93 %" in shown
    assert "GPU-00000000" in shown


def test_a_lost_gpu_s_page_dates_its_readings(make: Any) -> None:
    """Old readings are never shown as if they were new."""
    states = {0: make.status(0, GpuState.LOST, age_s=42.0, reason="no answer on the bus")}
    shown = page(make.snapshot(gpus=1, states=states), Panel.GPUS, 0)
    assert "42s old" in shown
    assert "no answer on the bus" in shown


def test_a_process_s_page_has_the_whole_command(make: Any) -> None:
    """The command is wrapped, not cut, and cannot command the terminal."""
    command = "python train.py " + " ".join(f"--option-{i}=x" for i in range(40)) + " \x1b[2J"
    shown = page(
        make.snapshot(processes=[make.process(7, command=command)]), Panel.PROCESSES, (7, 0)
    )
    assert "--option-39=x" in shown
    assert "\x1b" not in shown


def test_help_names_every_key_of_the_key_line() -> None:
    """What the last line offers is explained."""
    shown = "\n".join(line.text for line in help_page(Scene(), 80))
    for key in ("Enter", "Tab", "/ (F4)", "s (F6)", "? h (F1)", "q (F10"):
        assert key in shown
