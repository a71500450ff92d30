"""Each fault of memory: what gputui says of it, how fast, and that healing it is seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chaos.fault import FaultError
from fakes.hardware.ecc import MemoryErrors
from gputui.model import Action, Severity

HOUR_S = 3600.0


@pytest.mark.parametrize(
    ("error", "cause", "action", "severity"),
    [
        ("dram", "dram", Action.RESET_GPU, Severity.CRITICAL),
        ("sram", "sram", Action.RESET_GPU, Severity.CRITICAL),
        ("contained", "contained", Action.DRAIN_AND_RESET, Severity.CRITICAL),
        ("uncontained", "uncontained", Action.RESET_GPU, Severity.CRITICAL),
    ],
)
def test_an_uncorrectable_error_is_one_incident_at_once(watched, error, cause, action, severity):
    """Its Xids, the row that is marked, the reset that is required: all hang under it.

    The driver's own verdict is the advice.
    """
    run = watched()
    run.run(5)
    fault = run.inject("ecc", gpu=3, uncorrectable=error)
    run.run(5)
    told = run.the("EccUncorrectable")
    assert told.took_s <= 1
    assert run.kinds() == ["EccUncorrectable"]
    incident = told.incident
    assert (incident.gpu, incident.cause, incident.action) == (3, cause, action)
    assert incident.severity is severity
    assert "--gpu-reset -i 3" in incident.action_text
    assert "Xid" in incident.evidence[0]
    run.run(HOUR_S)
    assert run.kinds() == ["EccUncorrectable"]

    run.heal(fault.id)
    run.run(30)
    assert run.kinds() == []
    assert not run.incidents


def test_a_burst_of_errors_is_counted(watched):
    """Five contained errors on one GPU are one incident."""
    run = watched()
    run.run(5)
    run.inject("ecc", gpu=3, uncorrectable="contained", times=5, every="10s")
    run.run(60)
    incident = run.the("EccUncorrectable").incident
    assert incident.count == 5
    assert run.kinds() == ["EccUncorrectable"]


def test_errors_of_two_gpus_are_two_incidents(watched):
    """Memory fails for itself: neighbours have nothing to do with it."""
    run = watched()
    run.run(5)
    run.inject("ecc", gpu="n0/2,n0/6", uncorrectable="uncontained")
    run.run(5)
    assert [one.incident.gpu for one in run.opened("EccUncorrectable")] == [2, 6]
    assert run.kinds() == ["EccUncorrectable", "EccUncorrectable"]


def test_counters_that_were_high_at_the_start_are_no_news(watched, monkeypatch):
    """A board with a past: what was counted before gputui came is not told."""
    monkeypatch.setattr("fakes.hardware.gpu.MemoryErrors", lambda: MemoryErrors(4000, 12, 5000, 30))
    run = watched()
    assert run.gpu(4).memory_errors.all_volatile_uncorrected == 12
    run.run(HOUR_S)
    assert not run.opened()


def test_an_error_that_only_the_counters_tell_is_told(watched):
    """No line in the log: the counter that grew is enough, and says where."""
    run = watched()
    run.run(5)
    run.gpu(1).memory_errors.volatile_uncorrected += 1
    run.gpu(1).memory_errors.aggregate_uncorrected += 1
    run.changed()
    run.run(10)
    incident = run.the("EccUncorrectable").incident
    assert (incident.gpu, incident.cause) == (1, "dram")
    assert "1 uncorrectable ECC error" in incident.evidence[-1]


def test_an_error_after_rows_ran_out_asks_for_a_new_board(watched):
    """A reset mends what a spare row mends; there is none."""
    run = watched()
    run.run(5)
    run.inject("remap", gpu=3, failed=1)
    run.run(5)
    run.inject("ecc", gpu=3, uncorrectable="uncontained")
    run.run(5)
    incident = run.the("EccUncorrectable").incident
    assert incident.action is Action.REPLACE_GPU
    assert run.kinds() == ["EccUncorrectable"]


def test_rows_that_wait_want_the_next_reset(watched):
    """A warning: the GPU works on; over when they have been replaced."""
    run = watched()
    run.run(5)
    fault = run.inject("remap", gpu=3, pending=2)
    run.run(5)
    told = run.the("RowRemapPending")
    assert told.took_s <= 1
    incident = told.incident
    assert (incident.severity, incident.action) == (Severity.WARNING, Action.DRAIN_AND_RESET)
    assert (incident.gpu, incident.cause, incident.count) == (3, "dram", 2)
    assert run.kinds() == ["RowRemapPending"]

    run.heal(fault.id)
    run.run(60)
    assert not run.incidents


def test_a_row_without_a_spare_condemns_the_board(watched):
    """Critical, with the Xid under it, until the board is another."""
    run = watched()
    run.run(5)
    fault = run.inject("remap", gpu=3, failed=1)
    run.run(5)
    told = run.the("RowRemapFailure")
    assert told.took_s <= 1
    incident = told.incident
    assert (incident.severity, incident.action) == (Severity.CRITICAL, Action.REPLACE_GPU)
    assert run.kinds() == ["RowRemapFailure"]

    run.heal(fault.id)
    run.run(60)
    assert not run.incidents


def test_banks_without_spares_are_foreseen(watched):
    """The next error in one of them cannot be mended; nothing has failed yet."""
    run = watched()
    run.run(5)
    fault = run.inject("remap", gpu=3, banks_none=2)
    run.run(5)
    told = run.the("RowRemapFailure")
    assert told.took_s <= 3
    assert told.incident.severity is Severity.WARNING
    assert told.incident.cause_text == "2 banks have no spare row left"
    run.heal(fault.id)
    run.run(60)
    assert not run.incidents


def test_a_storm_of_corrections_is_told(watched):
    """By the driver's word where it gives up, by the counter's rate in any case."""
    run = watched()
    run.run(5)
    fault = run.inject("ecc", gpu=3, corrected_per_s=200)
    run.run(30)
    told = run.the("EccStorm")
    assert told.took_s <= 1
    assert (told.incident.gpu, told.incident.severity) == (3, Severity.WARNING)
    assert run.kinds() == ["EccStorm"]
    run.heal(fault.id)
    run.run(900)
    assert not run.incidents


def test_a_few_corrections_are_what_ecc_is_for(watched):
    """Five a second are below the threshold, and the driver says nothing."""
    run = watched()
    run.run(5)
    run.inject("ecc", gpu=3, corrected_per_s=5)
    run.run(40)
    assert not run.opened()


def test_a_chip_that_failed_too_often_is_to_be_replaced(watched):
    """The driver's flag is a warning; at the next error a reset is no longer enough."""
    run = watched()
    run.run(5)
    run.inject("ecc", gpu=3, sram_aggregate=9)
    run.run(60)
    incident = run.the("EccUncorrectable").incident
    assert (incident.severity, incident.cause) == (Severity.WARNING, "sram")
    assert incident.action is Action.REPLACE_GPU
    run.inject("ecc", gpu=3, uncorrectable="uncontained")
    run.run(5)
    incident = run.the("EccUncorrectable").incident
    assert (incident.severity, incident.cause) == (Severity.CRITICAL, "uncontained")
    assert incident.action is Action.REPLACE_GPU


def test_four_errors_in_a_life_are_borne(watched):
    """Below the threshold nothing is told of a past."""
    run = watched()
    run.run(5)
    run.inject("ecc", gpu=3, sram_aggregate=4)
    run.run(60)
    assert not run.opened()


def test_the_xid_alone_is_told_as_what_it_stands_for(watched):
    """A line of the log without anything behind it is believed, until the readings deny it."""
    run = watched()
    run.run(5)
    run.inject("xid", gpu=3, code=48, log_only=True)
    run.run(5)
    assert run.kinds() == ["EccUncorrectable"]
    assert run.the("EccUncorrectable").took_s <= 1


def test_pages_of_older_gpus_are_told_and_end_with_the_board(watched):
    """A few wait for the driver; a full list is the board's end."""
    run = watched(gpus=2)
    for gpu in run.node.gpus:
        gpu.profile = replace(gpu.profile, architecture=5)
    run.run(5)
    few = run.inject("remap", gpu=0, pages=2)
    run.run(5)
    told = run.the("RetiredPages")
    assert told.took_s <= 1
    assert (told.incident.gpu, told.incident.action) == (0, Action.RELOAD_DRIVER)
    assert run.kinds() == ["RetiredPages"]
    run.heal(few.id)
    run.run(60)
    assert not run.incidents
    run.inject("remap", gpu=1, pages=65)
    run.run(5)
    (full,) = [one for one in run.opened("RetiredPages") if one.incident.gpu == 1]
    assert full.incident.action is Action.REPLACE_GPU
    assert full.incident.severity is Severity.CRITICAL


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("h100-sxm", {"family": "remap", "gpu": 0, "pages": 2}),
        ("old", {"family": "remap", "gpu": 0, "pending": 2}),
        ("h100-sxm", {"family": "remap", "gpu": 0, "banks_none": 99999}),
        ("h100-sxm", {"family": "power", "gpu": 0, "cap": "5W"}),
        ("h100-sxm", {"family": "thermal", "gpu": 0, "fan": "0%"}),
    ],
)
def test_a_fault_that_a_model_cannot_have_is_refused(virtual_run, model, words):
    """In one clause, with what it can have instead; the world stays as it was."""
    run = virtual_run()
    if model == "old":
        run.gpu(0).profile = replace(run.gpu(0).profile, architecture=5)
    with pytest.raises(FaultError, match="n0/0"):
        run.inject(**words)
    assert not run.node.kernel_log.lines
