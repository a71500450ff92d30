"""The command: what it prints where, and the exit code that goes with it."""

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gputui
from gputui.quantities import duration_s
from gputui.tui.themes import THEMES

ROOT = Path(gputui.__file__).parents[1]


@pytest.fixture
def environment(tmp_path, fake_nvml_path):
    """An environment in which the sampler finds two fake GPUs; ``FAKE_NVML`` says how they are."""
    path = tmp_path / "told.json"
    path.write_text('{"gpus": 2}')
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GPUTUI")}
    return {
        **kept,
        "PYTHONPATH": f"{fake_nvml_path}{os.pathsep}{ROOT}",
        "FAKE_NVML": str(path),
        "GPUTUI_KERNEL_LOG": "none",
    }


@pytest.fixture
def tell(environment):
    return lambda **what: Path(environment["FAKE_NVML"]).write_text(json.dumps(what))


@pytest.fixture
def run(environment, tmp_path):
    """Run the command in a directory of its own; standard input is no terminal."""

    def run(*arguments, program=("-m", "gputui"), **more):
        return subprocess.run(
            [sys.executable, *program, *arguments],
            cwd=tmp_path, env={**environment, **more}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    return run


@pytest.fixture
def shell(environment, tmp_path):
    """Run the command with what a shell may put behind it."""

    def shell(text):
        return subprocess.run(
            ["/bin/sh", "-c", f"{sys.executable} -m gputui {text}"],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    return shell


# --- one reading ----------------------------------------------------------------------------------


def test_once_is_a_table_for_people(run):
    """States, readings and a healthy exit code."""
    done = run("--once")
    assert (done.returncode, done.stderr) == (0, "")
    title, header, first, *_ = done.stdout.splitlines()
    assert "2x NVIDIA H100 80GB HBM3  driver 570.124.06  CUDA 12.8" in title
    assert header.split()[:3] == ["GPU", "STATE", "UTIL"]
    assert first.split() == ["0", "ok", "93%", "60.0/80.0", "67C", "641/700", "1980"]


@pytest.mark.parametrize("arguments", [("--once", "--json"), ("--json",)])
def test_json_is_one_object_with_units_in_its_names(run, arguments):
    """The names that scripts rely on, and rates, which need two samples."""
    done = run(*arguments)
    shown = json.loads(done.stdout)
    assert done.returncode == 0
    assert {"host", "time_s", "driver", "gpus", "processes", "incidents"} <= set(shown)
    gpu = shown["gpus"][1]
    assert (gpu["index"], gpu["state"], gpu["power_mw"], gpu["missing"]) == (1, "ok", 641_000, {})
    assert gpu["pcie_rx_bytes_per_s"] == 1_024_000


def test_brief_is_one_line_a_node(run, tell):
    """Well: how busy. Unwell: the worst, and what to do."""
    done = run("--brief")
    assert done.returncode == 0
    assert re.fullmatch(r"\S+  ok  2 GPUs  93%  120.0/160.0 GiB  1282 W.*\n", done.stdout)
    tell(gpus=2, lost=[1])
    done = run("--brief")
    assert done.returncode == 1
    assert done.stdout.count("\n") == 1
    assert "CRITICAL  GpuLost GPU 1" in done.stdout
    assert "> drain, power-cycle the node" in done.stdout


@pytest.mark.parametrize("trouble", [{"lost": [1]}, {"unfindable": [1]}, {"hot": [1]}])
def test_trouble_is_in_the_table_and_in_the_exit_code(run, tell, trouble):
    """One look is enough for a lost GPU and for a hot one; the other GPU is shown as it is."""
    tell(gpus=2, **trouble)
    done = run("--once")
    assert done.returncode == 1
    table, _, incidents = done.stdout.partition("INCIDENTS\n")
    assert "ok" in table.splitlines()[2]
    assert ("THROTTLED" if "hot" in trouble else "LOST") in table.splitlines()[3]
    assert "GPU 1" in incidents


def test_a_hanging_driver_is_an_answer_not_a_wait(run, tell):
    """After a few seconds the reading is what it is: the driver does not answer, exit 2."""
    tell(gpus=2, hang_driver=True)
    before = time.monotonic()
    done = run("--once")
    assert done.returncode == 2
    assert "the driver does not return from a call" in done.stderr
    assert time.monotonic() - before < 30


def test_a_gpu_that_hangs_leaves_the_others_readable(run, tell):
    """The one is HUNG, with an incident; the other is read by a sampler that leaves it alone."""
    tell(gpus=2, hang=[1])
    done = run("--once", "--json")
    shown = json.loads(done.stdout)
    assert done.returncode == 1
    assert [gpu["state"] for gpu in shown["gpus"]] == ["ok", "hung"]
    assert (shown["gpus"][0]["power_mw"], shown["gpus"][1]["power_mw"]) == (641_000, None)
    assert [(one["kind"], one["gpu"]) for one in shown["incidents"]] == [("GpuHung", 1)]


def test_without_a_driver_it_says_what_was_tried_and_what_to_do(run, tell):
    """Words for people on standard error; the same words for machines on standard output."""
    tell(init=12)
    done = run("--once", "--json")
    assert done.returncode == 2
    for words in ("libnvidia-ml.so.1", "Install the driver", "gputui --demo"):
        assert words in done.stderr
    assert "libnvidia-ml.so.1" in json.loads(done.stdout)["error"]


def test_only_the_gpus_that_were_asked_for(run):
    """A list of indices; one that is not there is a mistake."""
    shown = json.loads(run("--json", "--gpu", "1").stdout)
    assert [gpu["index"] for gpu in shown["gpus"]] == [1]
    shown = json.loads(run("--json", "--gpu", "0-1").stdout)
    assert [gpu["index"] for gpu in shown["gpus"]] == [0, 1]
    done = run("--once", "--gpu", "1,7")
    assert done.returncode == 64
    assert "no GPU 7: this node has GPUs 0 to 1" in done.stderr


def test_an_unreadable_kernel_log_is_a_note(run):
    """The reading is there all the same."""
    done = run("--once", "--kernel-log", "/does/not/exist")
    assert done.returncode == 0
    assert "note: No kernel log can be read" in done.stdout


def test_the_kernel_log_may_be_named_by_the_environment(run, tmp_path):
    """Whoever starts the command through another can still pass the log."""
    log = tmp_path / "kern.log"
    log.write_text("NVRM: Xid (PCI:0000:11:00): 31, pid=1, name=python3, Ch 1\n")
    done = run("--once", GPUTUI_KERNEL_LOG=str(log))
    assert done.returncode == 1
    assert "GpuXid GPU 1" in done.stdout


# --- what is remembered, and what is expected -----------------------------------------------------


def test_a_gpu_that_is_gone_since_the_last_look_is_missed(run, tell):
    """The state file knows that there were three; one reading is enough to say so."""
    tell(gpus=3)
    assert run("--once").returncode == 0
    tell(gpus=2)
    done = run("--once", "--json")
    shown = json.loads(done.stdout)
    assert done.returncode == 1
    assert [gpu["state"] for gpu in shown["gpus"]] == ["ok", "ok", "lost"]
    assert shown["gpus"][2]["uuid"] == "GPU-00000002"
    assert [(one["kind"], one["gpu"]) for one in shown["incidents"]] == [("GpuMissing", 2)]
    tell(gpus=3)
    assert run("--once").returncode == 0


def test_gpus_may_be_expected_by_the_config(run, tmp_path):
    """A node that never had them all is missed some from the first look on."""
    path = tmp_path / "config/gputui/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[gpus]\nexpected = 3\n")
    done = run("--once")
    assert done.returncode == 1
    assert "2 of 3 GPUs are there" in done.stdout


def test_without_a_driver_the_gpus_of_before_are_listed(run, tell):
    """Rows that say how old they are; still nothing could be read, which is exit 2."""
    assert run("--once").returncode == 0
    tell(init=9)
    done = run("--once", "--json")
    shown = json.loads(done.stdout)
    assert done.returncode == 2
    assert [gpu["state"] for gpu in shown["gpus"]] == ["stale", "stale"]
    assert shown["gpus"][0]["name"] == "NVIDIA H100 80GB HBM3"
    assert shown["error_code"] == 9


@pytest.mark.parametrize(
    ("code", "words"),
    [(4, "no permission to use the driver"), (18, "different versions (library 12.570.124.06)"),
     (999, "restart the container")],
)  # fmt: skip
def test_each_trouble_of_the_driver_has_its_words_and_exit_2(run, tell, code, words):
    """What it is, what to do, for people and for machines, and no traceback."""
    tell(init=code)
    done = run("--once", "--json")
    shown = json.loads(done.stdout)
    assert (done.returncode, shown["error_code"]) == (2, code)
    assert words in shown["error"]
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_gpu_that_only_the_bus_shows_is_missed(run, tmp_path):
    """The driver's list and its device file say that it was meant for us."""
    buses = ("0000:10:00.0", "0000:11:00.0", "0000:12:00.0")
    for minor, address in enumerate(buses):
        device = tmp_path / "root/sys/bus/pci/devices" / address
        device.mkdir(parents=True)
        (device / "vendor").write_text("0x10de")
        (device / "class").write_text("0x030200")
        (device / "driver").symlink_to("../../../../bus/pci/drivers/nvidia")
        told = tmp_path / "root/proc/driver/nvidia/gpus" / address
        told.mkdir(parents=True)
        (told / "information").write_text(f"Device Minor: \t {minor}\n")
    (tmp_path / "root/dev").mkdir()
    for minor in range(3):
        (tmp_path / f"root/dev/nvidia{minor}").write_text("")
    done = run("--once", "--json", GPUTUI_ROOT=str(tmp_path / "root"))
    shown = json.loads(done.stdout)
    assert done.returncode == 1
    assert [(one["kind"], one["cause"]) for one in shown["incidents"]] == [("GpuMissing", "driver")]
    assert [gpu["bus_id"] for gpu in shown["gpus"]] == ["0000:10:00", "0000:11:00", "0000:12:00"]


def test_a_state_that_cannot_be_kept_is_a_note(run, tmp_path):
    """The reading is there all the same."""
    (tmp_path / "state").write_text("")
    done = run("--once")
    assert done.returncode == 0
    assert done.stdout.count("GPUs seen and acknowledgements are not remembered") == 1


# --- the stream -----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stream_goes_on_until_it_is_told_to_end(environment, number):
    """JSON lines in the capture format; a signal ends it cleanly."""
    with subprocess.Popen(
        [sys.executable, "-m", "gputui", "--stream", "--interval", "100ms"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        assert child.stderr is not None
        lines = [json.loads(child.stdout.readline()) for _ in range(4)]
        child.send_signal(number)
        rest, errors = child.stdout.read(), child.stderr.read()
        child.wait(timeout=10)
    assert (child.returncode, errors) == (0, "")
    assert [line["event"] for line in lines] == ["start", "sample", "sample", "sample"]
    assert lines[1]["gpus"][0]["state"] == "ok"
    assert all(json.loads(line) for line in rest.splitlines())


def test_a_stream_whose_reader_goes_ends_quietly(environment):
    """``gputui --stream | head -1`` is no error."""
    with subprocess.Popen(
        [sys.executable, "-m", "gputui", "--stream", "--interval", "100ms"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        child.stdout.readline()
        child.stdout.close()
        assert child.wait(timeout=10) == 0
        assert child.stderr is not None
        assert child.stderr.read() == b""


def test_a_stream_can_be_read_again(environment, run, tmp_path):
    """What was written is a source: as a file to its end, with the state it ends in."""
    record = tmp_path / "run.jsonl"
    assert run("--once", "--record", str(record)).returncode == 0
    for source in (f"stream={record}", f"replay={record}"):
        shown = json.loads(run("--json", "--source", source, FAKE_NVML="/nowhere").stdout)
        assert [gpu["state"] for gpu in shown["gpus"]] == ["ok", "ok"]
    again = run("--stream", "--source", f"stream={record}", FAKE_NVML="/nowhere")
    events = [json.loads(line)["event"] for line in again.stdout.splitlines()]
    assert events[:2] == ["start", "sample"]


# --- bad usage ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--interval", "5"], '"5" is no duration: expected a number with a unit, such as 1s'),
        (["--interval", "soon"], '"soon" is no duration'),
        (["--interval", "1ms"], "out of range: expected 100ms to 1h"),
        (["--gpu", "0,x"], "expected indices of GPUs, such as 0,3"),
        (["--gpu", "-1"], "gputui: "),
        (["--gpu", "3-1"], '"3-1": expected indices of GPUs, such as 0,3 or 0-3'),
        (["--gpu", "\N{ARABIC-INDIC DIGIT THREE}"], "expected indices of GPUs"),
        (["--interval", "0"], "0 is out of range: expected 100ms to 1h"),
        (["--interval", "\N{ARABIC-INDIC DIGIT THREE}s"], "is no duration"),
        (["--once", "--theme", "dork"], "Did you mean dark? Known: dark, light,"),
        (["--themee", "dark"], "did you mean --theme?"),
        (["--onse"], "did you mean --once?"),
        (["--source", "nvml"], "expected local, ssh:HOST, stream=PATH or replay=FILE"),
        (["--json", "--brief"], "exclude each other"),
        (["--once", "--stream"], "exclude each other"),
        (["everything"], 'no command "everything" (there are bundle, config'),
        ([], "the screen needs a terminal; --once, --json and --stream work without one"),
    ],
)
def test_a_mistake_is_told_in_one_line(run, arguments, words):
    """What was found and what was expected; exit 64, nothing on standard output."""
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (64, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_source_or_recording_that_cannot_be_opened_is_told(run, tmp_path):
    """No traceback: which file, and why."""
    done = run("--once", "--source", "stream=/does/not/exist")
    assert (done.returncode, done.stderr) == (
        2, "gputui: cannot read /does/not/exist: No such file or directory\n",
    )  # fmt: skip
    done = run("--once", "--record", str(tmp_path))
    assert done.returncode == 2
    assert f"cannot record into {tmp_path}: Is a directory" in done.stderr


@pytest.mark.parametrize(
    ("text", "seconds"), [("1s", 1.0), ("500ms", 0.5), ("1.5s", 1.5), ("2m", 120.0), ("1h", 3600.0)]
)
def test_a_duration_has_a_unit(text, seconds):
    """Milliseconds, seconds, minutes, hours."""
    assert duration_s(text) == seconds


def test_help_begins_with_examples(run):
    """Who asks for help sees first what to type."""
    done = run("-h")
    assert done.returncode == 0
    assert done.stdout.startswith("gputui ")
    assert done.stdout.index("gputui --demo") < done.stdout.index("usage:")
    assert "exit codes: 0 healthy" in done.stdout
    assert all(name in done.stdout for name in THEMES)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--once", "No space left on device"),
        ("--json", "No space left on device"),
        ("--stream", "No space left on device"),
        ("-h", "No space left on device"),
        ("--version", "No space left on device"),
        ("config print", "No space left on device"),
        ("--once", "Bad file descriptor"),
        ("--stream", "Bad file descriptor"),
    ],
)
def test_what_cannot_be_written_is_told_in_one_line(shell, arguments, words):
    """A full disk and a closed output alike: exit 2, and no traceback."""
    where = ">/dev/full" if "space" in words else ">&-"
    done = shell(f"{arguments} {where}")
    told = f"gputui: cannot write to standard output: {words}\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


def test_a_closed_input_is_an_empty_one(shell):
    """The sampler's pipes never get the numbers of the standard streams."""
    done = shell("--once <&-")
    assert (done.returncode, done.stderr) == (0, "")
    done = shell("<&-")
    assert done.returncode == 64
    assert "needs a terminal" in done.stderr
    done = shell("--nonsense 2>&-")
    assert (done.returncode, done.stdout) == (64, "")


@pytest.mark.parametrize("arguments", ["--once", "--stream", "-h"])
def test_a_reader_that_has_seen_enough_is_no_error(shell, arguments):
    """A pipe that is closed early ends the command quietly."""
    done = shell(f"{arguments} | head -c 1")
    assert (len(done.stdout), done.stderr) == (1, "")


# --- what is loaded -------------------------------------------------------------------------------

LOADED = """
import runpy, sys
try:
    runpy.run_module("gputui", run_name="__main__", alter_sys=True)
finally:
    names = {name.partition(".")[0] for name in sys.modules}
    maps = open("/proc/self/maps").read()
    unwanted = names & {"textual", "rich", "pynvml", "asyncio", "fakes", "chaos"}
    if "libnvidia-ml" in maps:
        unwanted.add("libnvidia-ml")
    print("unwanted:", sorted(unwanted), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["--once"], ["--json"], ["--brief"], ["--stream"]]
)
def test_nothing_heavy_is_loaded_without_the_screen(run, arguments, tmp_path):
    """Neither Textual nor the driver's binding; and never the driver's library."""
    source = []
    if arguments == ["--stream"]:
        recording = tmp_path / "run.jsonl"
        run("--once", "--record", str(recording))
        source = ["--source", f"stream={recording}"]
    done = run(*arguments, *source, program=("-c", LOADED))
    assert done.returncode == 0
    assert "unwanted: []" in done.stderr


BEFORE_THE_SAMPLER = """
import sys
import gputui.sources.spawn

def spawn(*_):
    heavy = {"dataclasses", "gputui.model", "gputui.monitor", "json", "pathlib", "shutil"}
    print("imported:", sorted(heavy & set(sys.modules)))
    sys.exit(0)

gputui.sources.spawn.spawn = spawn
from gputui.cli import main
main(["--once"])
"""


def test_the_sampler_is_started_before_anything_that_takes_long(run):
    """It loads while the rest does."""
    assert run(program=("-c", BEFORE_THE_SAMPLER)).stdout == "imported: []\n"


def test_the_version_is_the_projects(run):
    """One number, wherever it stands."""
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.M)
    assert version is not None
    assert run("--version").stdout == f"gputui {version[1]}\n"


# --- the demo -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "handed_over"),
    [
        (["--demo"], ["run", "demo", "--", "-m", "gputui"]),
        (["--demo=hot", "--ascii"], ["run", "hot", "--", "-m", "gputui", "--ascii"]),
        (["--once", "--demo", "hot", "--gpu", "1"],
         ["run", "hot", "--", "-m", "gputui", "--once", "--gpu", "1"]),
        (["--demo", "--record=a/b.jsonl"],
         ["run", "demo", "--writable", "a", "--", "-m", "gputui", "--record=a/b.jsonl"]),
    ],
)  # fmt: skip
def test_the_demo_is_handed_to_another_program(run, tmp_path, arguments, handed_over):
    """The rest of the command line goes with it; every demo has a name of its own."""
    house = tmp_path / "house"
    shutil.copytree(
        ROOT / "gputui", house / "gputui", ignore=shutil.ignore_patterns("__pycache__", "tui")
    )
    (house / "chaos").mkdir()
    (house / "chaos/__init__.py").write_text("")
    (house / "chaos/__main__.py").write_text("import json, sys; print(json.dumps(sys.argv[1:]))")
    done = run(*arguments, PYTHONPATH=str(house))
    assert done.returncode == 0
    words = [word for word in json.loads(done.stdout) if word != sys.executable]
    name = words.index("--name")
    assert re.fullmatch(r"demo-\d+", words[name + 1])
    assert words[:name] + words[name + 2 :] == handed_over


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("nosuch", 'no demo is called "nosuch"; there are '),
        ("slow-leek", "did you mean slow-leak?"),
        ("nosuch.yaml", "there is no scenario file nosuch.yaml"),
        ("folder/", "there is no scenario file folder/"),
    ],
)
def test_a_demo_that_there_is_not_is_bad_usage(run, scenario, words):
    """Told in one line of our own, before the other program is started."""
    done = run(f"--demo={scenario}")
    assert (done.returncode, done.stdout) == (64, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_demo_with_mistakes_is_bad_usage(run, tmp_path):
    """A file that cannot be played is told in our words, with each mistake's line and column."""
    scenario = tmp_path / "hot.yaml"
    scenario.write_text(
        "scenario: hot\nwhy: Heat.\ngiven:\n  fleet: {nodes: 1, gpus: 8, model: h100-sx}\n"
    )
    done = run(f"--demo={scenario}")
    assert (done.returncode, done.stdout) == (64, "")
    first, *mistakes = done.stderr.splitlines()
    assert first == f"gputui: --demo cannot play {scenario}:"
    assert any("hot.yaml:4:" in line and "did you mean" in line.lower() for line in mistakes)


def test_another_package_of_that_name_is_named(run, tmp_path):
    """Somebody else's ``chaos`` on the path is not started."""
    (tmp_path / "chaos").mkdir()
    (tmp_path / "chaos/__init__.py").write_text("")
    done = run("--demo", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert done.returncode == 2
    assert f"{tmp_path}/chaos/__init__.py" in done.stderr


# --- a terminal, but no driver --------------------------------------------------------------------


def test_on_a_terminal_without_a_driver_it_says_so_and_ends(environment, tell):
    """No empty screen: the words, and exit 2."""
    tell(init=12)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execvpe(sys.executable, [sys.executable, "-m", "gputui"], environment)
    said = b""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and select.select([terminal], [], [], 30)[0]:
        try:
            data = os.read(terminal, 4096)
        except OSError:
            break
        if not data:
            break
        said += data
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 2
    assert b"tried libnvidia-ml.so.1" in said
    assert b"\x1b[?1049h" not in said
