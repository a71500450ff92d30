"""systemctl, service, init and the journal of services, on a node of the world."""

import json

import pytest

from fakes.commands.registry import NOT_UNDERSTOOD
from fakes.hardware.fabric import FabricState
from fakes.node import Power
from fakes.system.services import State


@pytest.mark.parametrize(
    ("argv", "status", "printed"),
    [
        (("is-active", "slurmd"), 0, "active\n"),
        (("is-active", "nvidia-imex"), 3, "inactive\n"),
        (("is-active", "nvidia-imex", "slurmd"), 0, "inactive\nactive\n"),
        (("is-active", "--quiet", "slurmd.service"), 0, ""),
        (("-q", "is-active", "no-such"), 3, ""),
        (("is-enabled", "slurmd"), 0, "enabled\n"),
        (("is-enabled", "nvidia-imex"), 1, "disabled\n"),
        (
            ("is-enabled", "no-such"), 1,
            "Failed to get unit file state for no-such.service: No such file or directory\n",
        ),
        (("is-failed", "slurmd"), 1, "active\n"),
        (("show", "slurmd", "-p", "ActiveState"), 0, "ActiveState=active\n"),
        (("show", "-p", "LoadState,SubState", "no"), 0, "LoadState=not-found\nSubState=dead\n"),
        (("show", "-p", "SubState", "--value", "slurmd"), 0, "running\n"),
        (("show", "sshd", "--property=Id", "--property=Type"), 0, "Type=simple\nId=ssh.service\n"),
        (("start", "no-such"), 5,
         "Failed to start no-such.service: Unit no-such.service not found.\n"),
        (("stop", "no-such"), 5,
         "Failed to stop no-such.service: Unit no-such.service not loaded.\n"),
        (("status", "no-such"), 4, "Unit no-such.service could not be found.\n"),
        (("daemon-reload",), 0, ""),
        (("is-system-running",), 0, "running\n"),
        (("list-jobs",), 0, "No jobs running.\n"),
    ],
)  # fmt: skip
def test_systemctl_says_what_the_real_one_says(machine, argv, status, printed):
    """Words and exit statuses, of units that there are and of those that there are not."""
    assert machine("systemctl", *argv) == (status, printed)


@pytest.mark.parametrize(
    "argv", [("frobnicate",), ("start", "--frobnicate", "slurmd"), ("isolate", "strange.target")]
)
def test_what_is_not_known_is_125(machine, argv):
    """A verb, an option or a target of the real one's perhaps, which proves nothing here."""
    assert machine("systemctl", *argv)[0] == NOT_UNDERSTOOD


def test_a_unit_that_is_stopped_is_inactive_everywhere(machine):
    """In every form in which scripts ask; started again it is active again."""
    assert machine("systemctl", "stop", "slurmd") == (0, "")
    assert machine("systemctl", "is-active", "slurmd") == (3, "inactive\n")
    status, shown = machine("systemctl", "status", "slurmd", "--no-pager")
    assert status == 3
    assert "     Active: inactive (dead) since Thu 2026-01-01 00:01:00 UTC; 0s ago\n" in shown
    assert "Stopped Slurm node daemon.\n" in shown
    assert machine("service", "slurmd", "start") == (0, "")
    machine.later(62)
    status, shown = machine("systemctl", "status", "slurmd")
    assert status == 0
    assert "     Active: active (running) since Thu 2026-01-01 00:01:00 UTC; 1min 2s ago\n" in shown
    assert machine.effects == [("stop_service", "slurmd"), ("start_service", "slurmd")]


def test_a_killed_daemon_has_failed(machine):
    """Its unit says how; is-failed, list-units and the journal agree."""
    pid = machine.node.services.find("slurmd").pid
    machine.node.process_ended(pid, machine.world.now_us)
    assert machine("systemctl", "is-failed", "slurmd") == (0, "failed\n")
    assert machine("systemctl", "show", "-p", "Result", "slurmd") == (0, "Result=signal\n")
    listed = machine("systemctl", "list-units", "--state=failed", "--no-legend", "--no-pager")[1]
    assert listed == "● slurmd.service loaded failed failed Slurm node daemon\n"
    said = machine("journalctl", "-u", "slurmd", "--no-pager", "-o", "cat")[1]
    assert "slurmd.service: Main process exited, code=killed, status=9/KILL\n" in said
    assert machine("systemctl", "reset-failed")[0] == 0
    assert machine("systemctl", "is-active", "slurmd") == (3, "inactive\n")


def test_systemd_starts_again_what_is_to_be_restarted(machine):
    """After five seconds, under another PID."""
    service = machine.node.services.find("containerd")
    before = service.pid
    machine.node.process_ended(before, machine.world.now_us)
    assert service.state is State.FAILED
    machine.later(6)
    assert service.is_active
    assert service.pid not in (0, before)


def test_unit_files_are_listed_by_their_bare_names(machine):
    """So that ``grep -qx`` in the first column finds them; a pattern without a match is 1."""
    status, listed = machine("systemctl", "list-unit-files", "--no-legend")
    assert status == 0
    assert "slurmd.service" in [line.split()[0] for line in listed.splitlines()]
    assert machine("systemctl", "list-unit-files", "no-such.service") == (
        1, "UNIT FILE STATE VENDOR PRESET\n\n0 unit files listed.\n",
    )  # fmt: skip
    assert machine("systemctl", "cat", "slurmd")[1].startswith(
        "# /lib/systemd/system/slurmd.service\n[Unit]\nDescription=Slurm node daemon\n"
    )


def test_a_masked_unit_cannot_be_started(machine):
    """Until it is unmasked."""
    assert machine("systemctl", "mask", "--now", "nvidia-dcgm")[0] == 0
    assert machine("systemctl", "is-enabled", "nvidia-dcgm") == (1, "masked\n")
    status, said = machine("systemctl", "start", "nvidia-dcgm")
    assert (status, "is masked" in said) == (1, True)
    machine("systemctl", "unmask", "nvidia-dcgm")
    assert machine("systemctl", "start", "nvidia-dcgm") == (0, "")


def test_without_its_fabric_manager_the_gpus_wait_for_it(machine):
    """And register within seconds when it is back."""
    machine("systemctl", "stop", "nvidia-fabricmanager")
    assert {gpu.fabric.state for gpu in machine.node.gpus} == {FabricState.IN_PROGRESS}
    machine("systemctl", "restart", "nvidia-fabricmanager.service")
    machine.later(10)
    assert {gpu.fabric.state for gpu in machine.node.gpus} == {FabricState.COMPLETED}


def test_a_board_without_switches_has_no_fabric_manager(make_machine):
    """There is no such unit."""
    machine = make_machine("l4")
    assert machine("systemctl", "status", "nvidia-fabricmanager")[0] == 4


def test_persistence_mode_is_the_daemons(machine):
    """It ends with the daemon, and begins with it."""
    machine("systemctl", "stop", "nvidia-persistenced")
    assert [gpu.persistence for gpu in machine.node.gpus] == [False, False]
    machine("systemctl", "start", "nvidia-persistenced")
    assert [gpu.persistence for gpu in machine.node.gpus] == [True, True]


def test_a_node_without_slurmd_is_down_after_its_timeout(machine):
    """Not before; and is taken back when slurmd runs again."""
    machine("systemctl", "stop", "slurmd")
    machine.later(299)
    assert machine.world.cluster.nodes["n0"].down is None
    machine.later(2)
    assert machine.world.cluster.nodes["n0"].down.reason == "Not responding"
    machine("systemctl", "start", "slurmd")
    assert machine.world.cluster.nodes["n0"].down is None


def test_after_a_reboot_runs_what_is_enabled(machine):
    """What was stopped by hand runs again, what was disabled does not."""
    machine("systemctl", "stop", "munge")
    machine("systemctl", "disable", "--now", "nvidia-dcgm")
    assert machine("systemctl", "reboot") == (0, "")
    assert machine.node.power is Power.BOOTING
    assert not any(service.is_active for service in machine.node.services)
    machine.later(241)
    assert machine("systemctl", "is-active", "munge", "nvidia-dcgm")[1] == "active\ninactive\n"
    assert machine("journalctl", "-b", "-1", "-u", "munge", "-o", "cat")[1].endswith(
        "Stopped MUNGE authentication service.\n"
    )


@pytest.mark.parametrize(
    ("name", "argv", "power"),
    [
        ("systemctl", ("poweroff", "--force"), Power.OFF),
        ("systemctl", ("isolate", "reboot.target"), Power.BOOTING),
        ("init", ("6",), Power.BOOTING),
        ("telinit", ("0",), Power.OFF),
    ],
)
def test_every_way_to_end_a_node(machine, name, argv, power):
    """By whatever word."""
    assert machine(name, *argv)[0] == 0
    assert machine.node.power is power


def test_the_journal_of_a_unit_in_json(machine):
    """With the fields that agents read."""
    machine("systemctl", "restart", "nvidia-fabricmanager")
    lines = machine("journalctl", "-u", "nvidia-fabricmanager", "-o", "json", "-n", "2")[1]
    own, manager = (json.loads(line) for line in lines.splitlines())
    assert own["_SYSTEMD_UNIT"] == "nvidia-fabricmanager.service"
    assert own["SYSLOG_IDENTIFIER"] == "nv-fabricmanager"
    assert manager["UNIT"] == "nvidia-fabricmanager.service"
    assert manager["MESSAGE"] == "Started NVIDIA fabric manager service."


@pytest.mark.parametrize("since", ["1 hour ago", "-1h", "2h 30min ago", "today", "@1767225600"])
def test_since_in_every_form(machine, since):
    """Of systemd.time(7), as scripts write it."""
    machine("systemctl", "restart", "slurmd")
    assert "Started Slurm node daemon." in machine("journalctl", "-u", "slurmd", "-S", since)[1]


def test_later_is_not_since(machine):
    """What was said before is left out."""
    machine("systemctl", "restart", "slurmd")
    machine.later(120)
    assert machine("journalctl", "-u", "slurmd", "--since", "1 min ago")[1] == "-- No entries --\n"


def test_what_was_started_at_boot_has_its_lines_in_the_journal(machine):
    """They are of the time before the run; what is not started has none."""
    said = machine("journalctl", "-b", "-u", "nvidia-fabricmanager", "-o", "cat")[1].splitlines()
    assert said == [
        "Starting NVIDIA fabric manager service...",
        "Started NVIDIA fabric manager service.",
    ]
    assert machine("journalctl", "-u", "nvidia-imex")[1] == "-- No entries --\n"
    assert machine("journalctl", "-u", "slurmd", "--since", "10 min ago")[1] == "-- No entries --\n"
