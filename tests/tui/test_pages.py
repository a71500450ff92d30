from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from gputui.facts.xid import xid_fact
from gputui.model import Action, GpuSample, GpuState, MigInstance, Severity
from gputui.tui.pages import page_of
from gputui.tui.pages.help import help_page
from gputui.tui.pages.incident import incident_page
from gputui.tui.readings import SECTIONS
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


def test_an_incident_s_page_says_which_board_to_look_for(make: Any) -> None:
    """Serial number, slot and address where hands are needed, and only there."""
    gpus = [make.gpu(index, serial=f"16500{index}", slot=f"{index + 1}") for index in range(8)]
    incident = make.incident(gpu=5)
    shown = page(make.snapshot(gpus=gpus, incidents=[incident]), Panel.INCIDENTS, incident.id)
    assert "serial 165005, slot 6, PCI 0000:" in shown
    restart = make.incident(gpu=5, action=Action.RESTART_APP)
    shown = page(make.snapshot(gpus=gpus, incidents=[restart]), Panel.INCIDENTS, restart.id)
    assert "165005" not in shown


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
    assert "not supported (NVML 3)" in shown
    assert "93 %" in shown
    assert "GPU-00000000" in shown


def test_a_gpu_s_page_has_every_reading_there_is() -> None:
    """Each field of a sample stands on the page, once, but for what identifies the GPU."""
    told = [field for section in SECTIONS for entry in section.entries for field in entry.fields]
    identity = {"index", "uuid", "bus_id", "name", "return_code", "missing"}
    assert set(told) == {field.name for field in fields(GpuSample)} - identity
    limits = ["temperature_slowdown_c", "temperature_shutdown_c"]
    assert sorted(told) == sorted([*set(told), *limits])


@pytest.mark.parametrize("width", [40, 80, 140])
def test_a_gpu_s_page_lists_its_mig_instances(make: Any, width: int) -> None:
    """Each with its numbers, its profile, its memory and its UUID."""
    parts = (
        MigInstance(9, 0, "MIG-aa", "1g.10gb", 1 << 30, 10 << 30),
        MigInstance(11, 1, "MIG-bb", "3g.40gb"),
    )
    gpu = make.gpu(0, mig_enabled=True, mig_instances=parts)
    shown = page(make.snapshot(gpus=[gpu]), Panel.GPUS, 0, width)
    words = " ".join(shown.split())
    assert "MIG INSTANCES GI 9 CI 0 1g.10gb 1024 MiB of" in words
    assert "GI 11 CI 1 3g.40gb memory not told MIG-bb" in words


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"clock_reasons": 0x44}, "SW Power Cap, HW Thermal Slowdown"),
        ({"clock_reasons": 0x10000}, "0x10000"),
        ({"clock_reasons": 0}, "event reasons         none"),
        ({"recovery_action": 4}, "Drain and Reset"),
        ({"recovery_action": 77}, "action 77"),
        ({"ecc_corrected_volatile": 7, "ecc_uncorrected_volatile": 2}, "7 corrected, 2 uncorr"),
        ({"ecc_corrected_volatile": 7}, "7 corrected, ? uncorrected"),
        ({"nvlinks": 18, "nvlinks_down": (3, 4)}, "18, down: 3, 4"),
        ({"pcie_width": 8, "pcie_width_max": 16}, "x8 of x16"),
        ({"violation_thermal_ns": 42_500_000_000}, "42.5 s"),
        ({"remap_pending": True}, "pending               yes"),
        ({"missing": {"serial": "NVML error 42"}}, "NVML error 42 (NVML 42)"),
    ],
)
def test_a_gpu_s_page_speaks_nvml_s_language(make: Any, given: dict[str, Any], text: str) -> None:
    """Readings have the names and words that nvidia-smi and NVML have for them."""
    assert text in page(make.snapshot(gpus=[make.gpu(0, **given)]), Panel.GPUS, 0, 80)


@pytest.mark.parametrize("width", [40, 80, 100, 140, 300])
def test_a_gpu_s_page_tells_what_is_wrong_with_it_first(make: Any, width: int) -> None:
    """Its incidents stand above its graphs and readings, at any width."""
    shown = page(make.trouble(), Panel.GPUS, 5, width).splitlines()
    assert "LOST" in shown[0]
    assert any("GpuLost" in line for line in shown[:8])
    assert not any("GpuThermalThrottle" in line for line in shown)


def test_a_lost_gpu_s_page_dates_its_readings(make: Any) -> None:
    """Old readings are never shown as if they were new."""
    states = {0: make.status(0, GpuState.LOST, age_s=42.0, reason="no answer on the bus")}
    shown = page(make.snapshot(gpus=1, states=states), Panel.GPUS, 0)
    assert "42s old" in shown
    assert "UTILIZATION was 93 %" in shown
    assert "no answer on the bus" in shown


def test_a_process_s_page_has_the_whole_command(make: Any) -> None:
    """The command is wrapped, not cut, and cannot command the terminal."""
    command = "python train.py " + " ".join(f"--option-{i}=x" for i in range(40)) + " \x1b[2J"
    shown = page(
        make.snapshot(processes=[make.process(7, command=command)]), Panel.PROCESSES, (7, 0)
    )
    assert "--option-39=x" in shown
    assert "\x1b" not in shown


def test_a_process_that_cannot_be_reached_says_why(make: Any) -> None:
    """A PID of the host's, seen from a container, is labelled, and nothing is made up for it."""
    foreign = make.process(7, command=None, user=None, unreachable="host PID, not visible here")
    shown = page(make.snapshot(processes=[foreign]), Panel.PROCESSES, (7, 0))
    assert "command       host PID, not visible here" in shown
    assert "none from here" in shown


def test_help_names_every_key_of_the_key_line() -> None:
    """What the last line offers is explained."""
    shown = "\n".join(line.text for line in help_page(Scene(), 80))
    for key in ("Enter", "Tab", "/ (F4)", "s (F6)", "a", "g", "? h (F1)", "q (F10"):
        assert key in shown


def test_evidence_stands_beside_its_time(make: Any) -> None:
    """A second, or a day, in which several things were said stands there once."""
    pieces = (
        "2025-11-29 23:59:59 NVRM: first", "12:30:07 NVRM: second", "12:30:07 NVML: third",
        "12:30:08 NVRM: fourth " + "word " * 20, "without a time",
    )  # fmt: skip
    snapshot = make.snapshot(incidents=[make.incident(evidence=pieces)])
    page = incident_page("GpuLost-5")(Scene(snapshot, now_s=make.now_s), 80)
    texts = [line.text.rstrip() for line in page]
    at = texts.index(" EVIDENCE")
    assert texts[at + 1 : at + 6] == [
        "   2025-11-29",
        "   23:59:59  NVRM: first",
        "   12:30:07  NVRM: second",
        "             NVML: third",
        "   12:30:08  NVRM: fourth word word word word word word word word word word",
    ]
    narrow = incident_page("GpuLost-5")(Scene(snapshot, now_s=make.now_s), 40)
    assert all(line.width == 40 for line in narrow)
    assert "NVML: third" in "\n".join(line.text for line in narrow)


def test_what_vendors_say_of_an_xid_is_told_with_their_differences(make: Any) -> None:
    """The page of an incident ends with each code in it; where they differ, that is said."""
    lost = make.incident()
    texts = [
        line.text
        for line in incident_page(lost.id)(
            Scene(make.snapshot(incidents=[lost]), now_s=make.now_s), 100
        )
    ]
    at = next(i for i, text in enumerate(texts) if text.startswith(" XID 79"))
    assert "means" in texts[at + 1]
    assert any("NVIDIA" in text and "RESTART_BM" in text for text in texts[at:])
    disputed = next(code for code in range(200) if xid_fact(code).disputed)
    said = make.incident(evidence=(f"NVRM: Xid (PCI:0000:15:00): {disputed}, pid=1",))
    page = incident_page(said.id)(Scene(make.snapshot(incidents=[said]), now_s=make.now_s), 100)
    assert any("vendors differ" in line.text for line in page)
    calm = make.incident(evidence=("SM clock 1230 of 1980 MHz",), cause_text="hot")
    page = incident_page(calm.id)(Scene(make.snapshot(incidents=[calm]), now_s=make.now_s), 100)
    assert not any("XID" in line.text for line in page)
