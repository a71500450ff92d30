from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from chaos.cli import main
from chaos.commands import command_names, load_command
from chaos.library import shipped
from gputui import __version__


@pytest.fixture(autouse=True)
def runtime(monkeypatch):
    """Nothing runs here."""
    with tempfile.TemporaryDirectory(prefix="gt-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        monkeypatch.setattr(
            "chaos.real_time.registry.tempfile", SimpleNamespace(gettempdir=lambda: folder)
        )
        monkeypatch.delenv("GPUCHAOS_RUN", raising=False)
        yield


WRONG = {
    "unknown command": (["nod"], "unknown command 'nod'. Did you mean 'node'? Known commands: "),
    "unknown option": (
        ["models", "--all"],
        "unexpected option '--all'. Known options: -h, --help. See gpuchaos models -h",
    ),
    "no model": (["node"], "the following arguments are required: MODEL. See gpuchaos node -h"),
    "unknown model": (["node", "h100"], "unknown model 'h100'. Did you mean 'h100-sxm'?"),
    "no GPUs": (["node", "h100-sxm", "--gpus", "0"], "--gpus: a node has 1 to 64 GPUs, not 0."),
    "GPUs of letters": (
        ["node", "h100-sxm", "--gpus", "x"],
        "--gpus: 'x' is not a whole",
    ),
    "GPUs of no plain number": (["node", "h100-sxm", "--gpus", "1e3"], "--gpus: '1e3' is not a"),
    "GPUs in other digits": (["node", "h100-sxm", "--gpus", "\u0663"], "is not a whole number"),
    "fewer than no GPUs": (["node", "h100-sxm", "--gpus", "-1"], "has 1 to 64 GPUs, not -1."),
    "GPUs left out": (["node", "h100-sxm", "--gpus"], "--gpus: expected one argument. See gpuch"),
    "a rate with a unit": (["run", "demo", "--rate", "5s"], "--rate: '5s' is not a number, such"),
    "misspelt option": (
        ["node", "--gpsu", "3", "h100-sxm"],
        "Did you mean '--gpus'?",
    ),
    "misspelt option with =": (["inject", "lost", "gpu=3", "--fro=5s"], "Did you mean '--for'?"),
    "misspelt option before": (["--versoin"], "Did you mean '--version'?"),
    "program without dashes": (
        ["node", "h100-sxm", "--gpus", "8", "nvtop"],
        "unexpected word 'nvtop'. A program and its options come after '--', as in: gpuchaos node",
    ),
    "a directory": (["check", "/"], "/ is a directory, not a scenario file."),
    "a directory here": (["check", "scenarios"], "scenarios is a directory, not a scenario file."),
    "a device": (["run", "/dev/null"], "/dev/null is a device, not a scenario file."),
    "a name too long": (["check", "./" + "b" * 300], "cannot be read: File name too long."),
    "a very long word": (
        ["nod" * 100_000],
        "command 'nodnodnodnodnodnodnodnodnodnod...",
    ),
    "bad name": (["node", "h100-sxm", "--name", "a/b", "--", "true"], "'a/b' is no name for a run"),
    "no program": (["node", "h100-sxm", "--"], "there is no command after '--'."),
    "program too many": (["models", "--", "ls"], "gpuchaos models takes no command after '--'."),
    "unknown scenario": (["run", "dmo"], "unknown scenario 'dmo'. Did you mean 'demo'?"),
    "no such file": (["run", "a/b.yaml"], "there is no scenario file a/b.yaml."),
    "rate of nothing": (["run", "demo", "--rate", "0"], "--rate: a number from 0.01 to 1000"),
    "rate of nan": (
        ["run", "demo", "--rate", "nan"],
        "--rate: 'nan' is not a number",
    ),
    "unknown node": (["run", "demo", "--on", "n3"], "there is no node 'n3'. Nodes: n0."),
    "unknown fault": (["inject", "thermol", "gpu=3"], "unknown fault 'thermol'. Did you mean 'th"),
    "unknown argument": (["inject", "xid", "gpu=3", "cod=79"], "'xid' has no argument 'cod'. Did"),
    "no value": (["inject", "xid", "gpu"], "'gpu' is not KEY=VALUE."),
    "twice": (["inject", "xid", "gpu=1", "gpu=2"], "'gpu=2' is given twice."),
    "bad duration": (["inject", "lost", "gpu=3", "--for", "60"], "--for: '60' is not a duration"),
    "long duration": (["inject", "lost", "gpu=3", "--for", "999999h"], "longer than 400 days"),
    "bad argument": (["inject", "xid", "gpu=3", "code=79", "every=5"], "every: '5' is not a durat"),
    "nothing to inject into": (["inject", "lost", "gpu=3"], "no fake node is running: start one"),
    "nothing to heal": (["heal", "all"], "no fake node is running: start one"),
    "nothing to enter": (["enter"], "no fake node is running: start one"),
    "nothing to tell of": (["status", "--json"], "no fake node is running: start one"),
    "unknown family": (["faults", "xd"], "unknown fault 'xd'. Did you mean 'xid'? Known faults: "),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_usage_is_one_line_and_exit_254(name, capsys, monkeypatch):
    """What was found, what was expected; no traceback, nothing on stdout."""
    monkeypatch.chdir(Path(__file__).parents[2])
    argv, expected = WRONG[name]
    assert main(argv) == 254
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("gpuchaos: ")
    assert printed.err.count("\n") == 1
    assert len(printed.err) < 1000
    assert expected in printed.err


def test_a_mistake_in_a_scenario_starts_with_its_place(tmp_path, capsys):
    """So that editors and people can jump to it."""
    path = tmp_path / "drill.yaml"
    path.write_text("scenario: drill\nwhy: So.\ntimeline: [{at: 1s, losst: {gpu: 3}}]\n")
    assert main(["run", str(path), "--", "true"]) == 254
    assert capsys.readouterr().err.startswith(f"{path}:3:21: unknown fault 'losst'. Did you mean")


def test_check_says_of_each_scenario_whether_it_is_good(tmp_path, capsys):
    """Good ones on stdout, mistakes on stderr, all of them; 254 if there is one."""
    bad = tmp_path / "bad.yaml"
    bad.write_text("scenario: bad\nwhy: So.\nexpects: []\n")
    assert main(["check", "demo", str(bad), str(shipped()["slow-leak"])]) == 254
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [f"{shipped()['demo']}: ok", f"{shipped()['slow-leak']}: ok"]
    assert printed.err.startswith(f"{bad}:3:1: unknown key 'expects' in a scenario.")


def test_check_says_that_a_scenario_is_not_there_as_every_command(capsys):
    """A missing file has no line to jump to."""
    assert main(["check", "a/b.yaml"]) == 254
    assert capsys.readouterr().err == "gpuchaos: there is no scenario file a/b.yaml.\n"


def test_a_pipe_is_not_waited_for(tmp_path, capsys):
    """It might never say anything."""
    os.mkfifo(tmp_path / "pipe.yaml")
    assert main(["check", str(tmp_path / "pipe.yaml")]) == 254
    assert "pipe.yaml is a pipe, not a scenario file." in capsys.readouterr().err


def shell(command, environment):
    """Run a line of shell in which ``gpuchaos`` is ours; its stderr is a pipe."""
    line = f'gpuchaos() {{ "{sys.executable}" -m chaos "$@"; }}; {command}'
    return subprocess.run(
        ["sh", "-c", line],
        cwd=Path(__file__).parents[2],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("gpuchaos models >&-", "it is closed"),
        ("gpuchaos models -h >&-", "it is closed"),
        ("gpuchaos models >/dev/full", "No space left on device"),
        ("gpuchaos models -h >/dev/full", "No space left on device"),
        ("gpuchaos check demo >/dev/full", "No space left on device"),
    ],
)
def test_what_cannot_be_written_is_said(command, reason, environment):
    """One line on stderr and 254, whatever stdout is."""
    done = shell(command, environment)
    assert done.returncode == 254
    assert done.stderr == f"gpuchaos: standard output cannot be written: {reason}.\n"


def test_a_reader_that_has_seen_enough_is_no_mistake(environment):
    """``gpuchaos faults | head``: 141 as of any program, and nothing on stderr."""
    done = shell('{ gpuchaos models; echo "$?" >&3; } 3>&2 | true', environment)
    assert done.stderr in ("141\n", "0\n")  # 0: it had printed all before the reader was gone


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">/dev/full", "2>/dev/full"])
def test_closed_streams_leave_a_programs_status(closed, environment):
    """With ``-- CMD`` the status is CMD's, and nothing else is printed on what is open."""
    done = shell(f"gpuchaos node h100-sxm --gpus 1 -- sh -c 'exit 7' {closed}", environment)
    assert done.returncode == 7
    assert "our own fault" not in done.stderr


def test_a_disk_that_is_full_at_the_start_is_named(environment):
    """The file that found no room, and no simulator that dies of it later."""
    done = shell("ulimit -f 4096; gpuchaos node h100-sxm --gpus 1 -- true", environment)
    assert done.returncode == 254
    assert done.stderr.startswith(f"gpuchaos: {environment['XDG_RUNTIME_DIR']}/gputui/default/n0/")
    assert done.stderr.endswith(": File too large.\n")


def test_the_version_is_told(capsys):
    """``--version`` names the program and its version."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"gpuchaos {__version__}\n"


@pytest.mark.parametrize("name", command_names())
def test_help_shows_an_example_first(name, capsys):
    """``-h`` of every command begins with an example of it."""
    assert main([name, "-h"]) == 0
    assert capsys.readouterr().out.startswith(f"gpuchaos {name}")
    assert load_command(name).example.startswith(f"gpuchaos {name}")


def test_the_overview_names_every_command(capsys):
    """Without a command, and with --help, all are listed."""
    assert main([]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in command_names())


def test_what_there_is_can_be_listed(capsys):
    """Models with their size, faults with their arguments, scenarios with their reason."""
    assert main(["models"]) == 0
    assert "h100-sxm     NVIDIA H100 80GB HBM3, 81559 MiB, 700 W" in capsys.readouterr().out
    assert main(["faults", "memory"]) == 0
    listed = capsys.readouterr().out
    assert "memory grow=" in listed
    assert "grow      an amount of memory over time above zero, such as 500MiB/s" in listed
    assert "It does not prove that" in listed
    assert "thermal" not in listed
    assert main(["list"]) == 0
    assert "demo\n    Three troubles within a minute" in capsys.readouterr().out


def test_our_own_fault_is_one_line(monkeypatch, capsys):
    """255, and how to see more; with GPUCHAOS_DEBUG=1 it is a traceback."""
    monkeypatch.setattr("chaos.commands.models.models", lambda: 1 / 0)
    assert main(["models"]) == 255
    err = capsys.readouterr().err
    assert err.startswith("gpuchaos: our own fault: ZeroDivisionError: division by zero (GPUCHAOS_")
    assert err.count("\n") == 1
    monkeypatch.setenv("GPUCHAOS_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["models"])
