"""gputui scan: what the Fabric Manager says in its own log, and in the system's."""

import json

import pytest

from gputui.commands.scan import run

FRONTS = (
    "Apr 22 10:11:12 n7 nv-fabricmanager[123]: ",
    "2026-04-22T10:11:12.000000+02:00 n7 nv-fabricmanager[123]: ",
    "[Apr 22 2026 10:11:12] [ERROR] [tid 99] ",
)


@pytest.fixture
def incidents(tmp_path, capsys):
    """The incidents of a log with one line."""

    def scanned(line):
        log = tmp_path / "fabricmanager.log"
        log.write_text(line + "\n", encoding="utf-8")
        run(["--json", str(log)])
        lines = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
        return [one["incident"] for one in lines if one["event"] == "incident"]

    return scanned


def mismatch(manager, driver):
    return (
        f"fabric manager NVIDIA GPU driver interface version {manager} don't match with driver "
        f"version {driver}. Please update with matching NVIDIA driver package."
    )


@pytest.mark.parametrize("front", FRONTS)
def test_a_manager_of_another_version_is_an_incident(incidents, front):
    """The fabric is not ready, both versions are told, and the advice names the driver's."""
    (found,) = incidents(front + mismatch("550.54.15", "550.90.07"))
    assert (found["kind"], found["cause"]) == ("FabricNotReady", "version-mismatch")
    assert found["cause_text"] == "fabric manager 550.54.15, driver 550.90.07"
    assert "550.90.07" in found["action_text"]


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize(("word", "severity"), [("non-fatal", "warning"), ("fatal", "critical")])
def test_an_error_of_a_switch_that_the_manager_tells_is_an_incident(
    incidents, front, word, severity
):
    """It is as bad as the manager's own word says."""
    (found,) = incidents(
        f"{front}detected NVSwitch {word} error 12028 on fid 0 on NVSwitch pci bus id "
        "00000000:86:00.0 physical id 1 port 12"
    )
    assert (found["kind"], found["severity"]) == ("NvswitchError", severity)


@pytest.mark.parametrize("speaker", ["agent[7]: saw ", "agent[7]: "])
def test_what_another_program_says_of_the_manager_is_nothing(incidents, speaker):
    """The manager's words in another program's message are no incident."""
    line = mismatch("550.54.15", "550.90.07")
    assert not incidents(f"Apr 22 10:11:12 n7 {speaker}{line}")
