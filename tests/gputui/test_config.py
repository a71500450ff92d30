"""Settings: typed, in layers, and every mistake told with its file and line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gputui
from gputui.commands.config import template
from gputui.config import ENTRIES, Config, load_config, read_config
from gputui.incidents.maintenance import Window
from gputui.incidents.thresholds import Thresholds

ROOT = Path(gputui.__file__).parents[1]

FULL = """
interval = "2s"
kernel_log = "none"
theme = "light"
allow_actions = true

[gpus]
expected = ["GPU-a", "GPU-b"]

[rules]
off = ["GpuMemoryPressure"]

[thresholds]
memory_full = "90%"
memory_foreseen = "10m"

[[maintenance]]
name = "new cables"
subjects = ["node:n0", "gpu3"]
kinds = ["GpuXid"]
start = 2026-12-01T02:00:00+01:00
end = 2026-12-01T04:00:00+01:00

[[maintenance]]
name = "backups"
daily = "22:00-06:30"
"""


def test_everything_that_can_be_set_is_read():
    """Each entry has the type and the unit of what it sets."""
    assert read_config(FULL, "config.toml") == Config(
        interval_s=2.0,
        kernel_log="none",
        theme="light",
        allow_actions=True,
        expected_gpus=("GPU-a", "GPU-b"),
        maintenance=(
            Window(
                "new cables",
                subjects=("node:n0", "gpu3"),
                kinds=frozenset({"GpuXid"}),
                start_s=1_796_086_800.0,
                end_s=1_796_094_000.0,
            ),
            Window("backups", daily=(79_200.0, 23_400.0)),
        ),
        rules_off=frozenset({"GpuMemoryPressure"}),
        thresholds=Thresholds(memory_full_share=0.9, memory_foreseen_s=600.0),
    )


def test_the_users_file_is_stronger_than_the_sites(tmp_path):
    """Entry by entry: what the user does not set stays as the site set it."""
    site, user = tmp_path / "site.toml", tmp_path / "user.toml"
    site.write_text('theme = "light"\n[gpus]\nexpected = 8\n[thresholds]\nmemory_full = "90%"\n')
    user.write_text('theme = "dark"\n[thresholds]\nmemory_growing = "50%"\n')
    config = load_config([site, tmp_path / "none.toml", user])
    assert (config.theme, config.expected_gpus) == ("dark", 8)
    assert config.thresholds == Thresholds(memory_full_share=0.9, memory_growing_share=0.5)
    assert config.problems == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = \n", "c.toml:1:5: Invalid value"),
        ("[gpus\n", "c.toml:1:6: "),
        ('\n\ntheme = 5\n', "c.toml:3: theme: found 5, expected text"),
        ('themes = "dark"\n', "c.toml:1: themes: nothing of this name; did you mean theme?"),
        ("[gpus]\nexpectd = 8\n", "c.toml:2: gpus.expectd: nothing of this name; did you mean"),
        ("[gpus]\nexpected = 0\n", "c.toml:2: gpus.expected: found 0, expected a number of GPUs"),
        ('[gpus]\nexpected = ["3"]\n', "expected a number of GPUs, or a list of UUIDs"),
        ("[gpus]\nexpected = true\n", "found true, expected a number of GPUs"),
        ("interval = 5\n", 'interval: found 5, expected a duration in quotes, such as "1s"'),
        ('interval = "5"\n', 'interval: "5" is no duration: expected a number with a unit'),
        ('interval = "1ms"\n', "expected 100ms to 1h"),
        ('allow_actions = "yes"\n', 'allow_actions: found "yes", expected true or false'),
        ('[rules]\noff = ["GpuLots"]\n', 'no incident of the kind "GpuLots"; did you mean GpuLost'),
        ('[rules]\noff = "GpuLost"\n', "expected a list of texts"),
        ('[thresholds]\nmemory_full = "95"\n', '"95" is no percentage: expected one such as 95%'),
        ('[thresholds]\nmemory_full = "950%"\n', "out of range: expected 0% to 100%"),
        ("[thresholds]\nmemory_full = 95\n", "expected a percentage in quotes"),
        ("# x\n[unknown]\na = 1\n", "c.toml:2: unknown: nothing of this name"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place_and_the_rest_holds(text, problem):
    """What was found, where, what was expected; other entries are as they were set."""
    before = Config(kernel_log="kmsg")
    config = read_config(text, "c.toml", before)
    assert len(config.problems) == 1
    assert problem in config.problems[0]
    assert config.problems[0].startswith("c.toml:")
    assert config.kernel_log == "kmsg"


def test_a_file_that_cannot_be_read_is_a_problem_not_a_crash(tmp_path):
    """Bytes that are no text, or a directory in its place."""
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "folder.toml").mkdir()
    config = load_config([tmp_path / "bytes.toml", tmp_path / "folder.toml"])
    assert len(config.problems) == 2
    assert all("cannot be read" in problem for problem in config.problems)


def test_the_template_shows_every_entry_and_sets_nothing():
    """Uncommented line by line it is a valid file; as it is written it changes nothing."""
    assert read_config(template(), "template") == Config()
    lines = [line.removeprefix("# ") for line in template().splitlines()]
    opened = "\n".join(line for line in lines if " = " in line or line.startswith("["))
    config = read_config(opened, "template")
    assert config.problems == ()
    assert config.expected_gpus == 8
    assert all(entry.key.rpartition(".")[2] in opened for entry in ENTRIES)


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path):
    """Run gputui in a home of its own."""

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "gputui", *arguments],
            cwd=ROOT,
            env={**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config")},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("maintenance = 5", "found 5, expected a list of windows"),
        ("[[maintenance]]\ndaily = '02:00-04:00'", "window 1: expected a name"),
        ("[[maintenance]]\nname = 'a'", 'the window "a": expected a start, an end, or daily'),
        ("[[maintenance]]\nname = 'a'\ndaily = '2-4'", "daily: expected two times in quotes"),
        ("[[maintenance]]\nname = 'a'\nstart = '2026'", "start: expected a date and a time"),
        (
            "[[maintenance]]\nname = 'a'\nstart = 2026-12-01T02:00:00\nend = 2026-12-01T01:00:00",
            "expected an end after the start",
        ),
        ("[[maintenance]]\nname = 'a'\nfrom = 1", "nothing of the name from"),
        (
            "[[maintenance]]\nname = 'a'\ndaily = '02:00-04:00'\nkinds = ['GpuXidd']",
            "did you mean GpuXid?",
        ),
    ],
)
def test_a_wrong_window_of_maintenance_is_told(text, problem):
    """Which window it is, and what was expected; no window holds then."""
    config = read_config(f"theme = 'light'\n{text}\n", "config.toml")
    assert config.maintenance == ()
    assert config.theme == "light"
    assert config.problems[0].startswith("config.toml:2: maintenance: ")
    assert problem in config.problems[0]


def test_init_writes_a_file_once(run, tmp_path):
    """What is there already is not overwritten."""
    path = tmp_path / "config/gputui/config.toml"
    done = run("config", "init")
    assert (done.returncode, done.stdout) == (0, f"wrote {path}\n")
    assert path.read_text() == template()
    done = run("config", "init")
    assert done.returncode == 2
    assert "is there already" in done.stderr


def test_print_shows_what_holds_in_the_form_of_a_file(run, tmp_path):
    """Its output can be read again, and then sets the same."""
    path = tmp_path / "config/gputui/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(FULL)
    done = run("config", "print")
    assert done.returncode == 0
    assert read_config(done.stdout, "printed") == read_config(FULL, "given")


def test_validate_tells_mistakes_and_their_absence(run, tmp_path):
    """One line a mistake, and an exit code that a check can use."""
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text(FULL)
    bad.write_text('theme = 1\ninterval = "x"\n')
    done = run("config", "validate", str(good))
    assert (done.returncode, done.stdout) == (0, f"no mistakes in {good}\n")
    done = run("config", "validate", str(bad))
    assert (done.returncode, done.stdout) == (64, "")
    assert [line.split(": ")[0] for line in done.stderr.splitlines()] == [f"{bad}:1", f"{bad}:2"]
    assert run("config", "validate", str(tmp_path / "none")).returncode == 2
    assert run("config", "valid").returncode == 64


def test_a_mistake_does_not_stop_the_monitor(monkeypatch, run, tmp_path, fake_nvml_path):
    """It is a note beside the reading, and what is right in the file holds."""
    told = tmp_path / "told.json"
    told.write_text('{"gpus": 2}')
    monkeypatch.setenv("PYTHONPATH", f"{fake_nvml_path}{os.pathsep}{ROOT}")
    monkeypatch.setenv("FAKE_NVML", str(told))
    path = tmp_path / "config/gputui/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text('kernel_log = "none"\ntheme = 5\n')
    done = run("--once")
    assert done.returncode == 0
    assert f"note: {path}:2: theme: found 5, expected text" in done.stdout
    assert "kernel log" not in done.stdout
