from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.system.units import UNITS

READ_POWER = (
    "import pynvml as n; n.nvmlInit(); h = n.nvmlDeviceGetHandleByIndex(1);"
    "print(n.nvmlDeviceGetCount(), n.nvmlDeviceGetPowerUsage(h) > 500_000)"
)
READ_PIDS = (
    "import pynvml as n; n.nvmlInit();"
    "print([p.pid for i in range(n.nvmlDeviceGetCount())"
    " for p in n.nvmlDeviceGetComputeRunningProcesses(n.nvmlDeviceGetHandleByIndex(i))])"
)


def test_the_programs_exit_status_is_the_commands(me):
    """A status goes through, and a signal as 128 + its number."""
    assert me.on_node("exit 7").returncode == 7
    assert me.on_node("kill -KILL $$").returncode == 128 + signal.SIGKILL


def test_only_the_program_writes_on_stdout(me):
    """One line on stderr, before the program starts, says what it runs on."""
    done = me.on_node("echo out; echo err >&2")

    assert done.stdout == "out\n"
    notice, rest = done.stderr.split("\n", 1)
    assert "2 x NVIDIA H100 80GB HBM3, contained by namespaces." in notice
    assert rest == "err\n"


def test_a_program_that_cannot_run_is_said_so(me, tmp_path):
    """127 for what is not there, 126 for what cannot be run, as in a shell; no #! needs no more."""
    me.env["PATH"] = f"/no/such/folder:{me.env['PATH']}"
    done = me.gpuchaos("node", "h100-sxm", "--", "no-such-program")
    assert done.returncode == 127
    assert "no-such-program: there is no such program" in done.stderr
    me.start_node()
    assert me.gpuchaos("enter", "--", "no-such-program").returncode == 127
    assert me.gpuchaos("enter", "--", "/").returncode == 126
    script = tmp_path / "script"
    script.write_text("echo ran $1; exit 4\n")
    script.chmod(0o755)
    done = me.gpuchaos("enter", "--", str(script), "well")
    assert (done.returncode, done.stdout) == (4, "ran well\n")


def test_directory_arguments_and_environment_are_the_callers(me):
    """The program runs where the caller is, with what the caller has."""
    me.env["GPU_DRILL"] = "two words"
    script = ("sh", "-c", 'pwd; echo "$GPU_DRILL"; echo "$@"', "sh", "a b", "--", "c")
    done = me.gpuchaos("node", "h100-sxm", "--", *script)
    assert done.stdout == f"{Path(__file__).parents[2]}\ntwo words\na b -- c\n"


def test_the_program_gets_no_descriptor_of_ours(me):
    """Standard streams and nothing else, also where the caller had closed its input."""
    done = me.on_node("exec 3</proc/self/fd; ls /proc/self/fd | tr '\\n' ' '")
    assert done.stdout == "0 1 2 3 4 "
    me.prefix = ("sh", "-c", 'exec "$@" 0<&-', "sh")
    assert me.on_node("read line; echo $?").stdout == "1\n"


def test_nvml_is_found_in_whatever_environment(who):
    """By the linker's cache too: a program that clears its environment sees the fake."""
    bare = f"env -i PYTHONPATH={who.env['PYTHONPATH']} {who.python} -c '{READ_POWER}'"
    done = who.on_node(f"{who.python} -c '{READ_POWER}' && {bare}")
    assert done.stdout == "2 True\n2 True\n", done.stderr


def test_nvml_ps_and_proc_agree_on_the_processes(who):
    """The PIDs that NVML gives are those of ps and /proc, and but for services nobody else
    is there.
    """
    done = who.on_node(
        f"{who.python} -c '{READ_PIDS}'; cat /proc/4002/cmdline | tr '\\0' ' '; echo;"
        " ls -d /proc/[0-9]* | wc -l;"
        " tr '\\0' '\\n' < /proc/4002/environ | grep -E '^(RANK|SLURM_JOB_)' | sort"
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "[4001, 4002]"
    assert lines[1] == "python3 train.py "
    assert int(lines[2]) <= 8 + len(UNITS)
    assert lines[3:5] == ["RANK=1", "SLURM_JOB_ID=1001"]
    assert lines[5:] == ["SLURM_JOB_NAME=train", "SLURM_JOB_USER=alice"]


def test_an_idle_node_has_no_processes(me):
    """``--idle``: no job."""
    done = me.on_node(f"{me.python} -c '{READ_PIDS}'", "--idle")
    assert done.stdout == "[]\n"


def test_killing_a_process_frees_its_memory(who):
    """A process killed from inside is gone from NVML and from the run, at once."""
    who.start_node()
    done = who.gpuchaos(
        "enter", "--", "sh", "-c", f"kill 4001; sleep 0.5; {who.python} -c '{READ_PIDS}'"
    )
    assert done.stdout == "[4002]\n", done.stderr
    assert [p["pid"] for p in who.status()["nodes"][0]["processes"]] == [4002]


def test_an_error_in_the_world_ends_the_real_process(me):
    """Xid 31 ends the process on its GPU, for ps and NVML alike."""
    me.start_node()
    assert me.gpuchaos("inject", "xid", "gpu=0", "code=31").returncode == 0
    done = me.gpuchaos(
        "enter", "--", "sh", "-c", "test -e /proc/4001; echo $?; test -e /proc/4002; echo $?"
    )
    assert done.stdout == "1\n0\n"


def test_a_fault_injected_from_inside_shows_outside_and_heals(who):
    """``gpuchaos inject`` finds its run from inside; the kernel log tells, heal takes it back."""
    who.start_node()
    inject = f"{who.python} -m chaos inject xid gpu=n0/1 code=79"
    script = f"{inject} && grep -c 'Xid.*: 79, ' /var/log/kern.log"
    done = who.gpuchaos("enter", "--", "sh", "-c", script)
    assert done.stdout == "xid-1\n1\n", done.stderr

    status = who.status()
    assert status["nodes"][0]["lost_gpus"] == [1]
    assert [fault["id"] for fault in status["faults"]] == ["xid-1"]
    assert who.gpuchaos("heal", "xid-1").stdout == "xid-1\n"
    assert who.status()["nodes"][0]["lost_gpus"] == []


def test_a_fault_for_a_while_heals_itself(me):
    """``--for`` counts on the run's clock."""
    me.start_node()
    done = me.gpuchaos("inject", "lost", "gpu=0", "--for", "1s")
    assert done.stdout == "lost-1\n"
    while me.status()["faults"]:
        pass
    assert me.status()["nodes"][0]["lost_gpus"] == []


def test_enter_keeps_the_exit_status_and_can_be_nested(me):
    """A program entered from inside runs in the same place."""
    me.start_node()
    inner = f"{me.python} -m chaos enter -- sh -c 'test -e /proc/4001 && exit 9'"
    assert me.gpuchaos("enter", "--", "sh", "-c", inner).returncode == 9


def test_a_scenario_plays_at_its_rate(me, tmp_path):
    """``run --rate``: a minute of the scenario in a second or two."""
    (tmp_path / "soon.yaml").write_text(
        "scenario: soon\nwhy: So.\ngiven: {fleet: {nodes: 2, gpus: 2}}\n"
        "timeline: [{at: 60s, lost: {gpu: n1/1}}, {at: 61s, memory: {gpu: n0/0, grow: 1GiB/s}}]\n"
    )
    wait = "until grep -q fallen /var/log/kern.log; do sleep 0.05; done; hostname; sleep 0.2"
    done = me.gpuchaos(
        "run", str(tmp_path / "soon.yaml"), "--rate", "60", "--on", "n1", "--", "sh", "-c", wait
    )
    assert (done.returncode, done.stdout) == (0, "n1\n"), done.stderr
    assert "soon.yaml:4:52: there is no process on n0/0." in done.stderr


def test_a_nodes_clock_can_run_faster(me):
    """``node --rate``: what lasts a minute is over in a second or two."""
    me.start_node("--rate", "60")
    assert me.status()["rate"] == 60
    assert me.gpuchaos("inject", "lost", "gpu=0", "--for", "60s").returncode == 0
    while me.status()["faults"]:
        pass
    assert me.status()["now_s"] > 60


def test_every_node_of_a_scenario_can_be_entered(me, tmp_path):
    """Each has its own name, processes, files and GPUs; ``--on`` chooses one."""
    (tmp_path / "two.yaml").write_text(
        "scenario: two\nwhy: So.\ngiven: {fleet: {nodes: 2, gpus: 2}}\n"
    )
    run = me.start("run", str(tmp_path / "two.yaml"), "--", "sh", "-c", "echo up; exec sleep 1000")
    assert run.stdout is not None
    assert run.stdout.readline() == "up\n"
    look = ("sh", "-c", "hostname; nvidia-smi -L | wc -l; ls /tmp/mark; touch /tmp/mark")
    first = me.gpuchaos("enter", "--on", "n0", "--", *look)
    second = me.gpuchaos("enter", "--on", "n1", "--", *look)
    assert (first.stdout, second.stdout) == ("n0\n2\n", "n1\n2\n")
    assert me.gpuchaos("inject", "lost", "gpu=n1/1").returncode == 0
    asked = ("nvidia-smi", "--query-gpu=index", "--format=csv,noheader")
    assert me.gpuchaos("enter", "--on", "n0", "--", *asked).stdout == "0\n1\n"
    assert me.gpuchaos("enter", "--on", "n1", "--", *asked).stdout != "0\n1\n"
    assert "there is no node 'n2'" in me.gpuchaos("enter", "--on", "n2").stderr


def test_without_a_compiler_other_programs_are_refused(me, tmp_path):
    """What is missing is named, and what to do."""
    _needs_to_compile()
    me.env.update(CC="/no/such/cc", XDG_CACHE_HOME=str(tmp_path))
    done = me.gpuchaos("node", "h100-sxm", "--", "nvitop")
    assert done.returncode == 254
    assert "nvitop cannot run: the fake NVML library needs a C compiler" in done.stderr


def test_without_a_compiler_gputui_still_runs(me, tmp_path):
    """Gputui is fed its readings, and one line says what is missing."""
    _needs_to_compile()
    me.env.update(CC="/no/such/cc", XDG_CACHE_HOME=str(tmp_path))
    done = me.gpuchaos("node", "h100-sxm", "--gpus", "3", "--", me.python, "-m", "gputui", "--once")
    assert done.returncode == 0, done.stderr
    assert "3x NVIDIA H100 80GB HBM3" in done.stdout
    assert "4003" in done.stdout
    assert "python3 train.py" in done.stdout
    assert "nothing else can run here: the fake NVML library needs a C compiler" in done.stderr


def test_without_a_compiler_a_second_gputui_is_told_what_to_do(me, tmp_path, wait_until):
    """Its node has no NVML: it is not started, and one line says how to get one."""
    _needs_to_compile()
    me.env.update(CC="/no/such/cc", XDG_CACHE_HOME=str(tmp_path))
    me.start("node", "h100-sxm", "--gpus", "1", "--", me.python, "-m", "gputui", "--stream")
    wait_until(lambda: me.gpuchaos("status").returncode == 0, "the node to answer")
    done = me.gpuchaos("enter", "--", me.python, "-m", "gputui", "--once")
    assert (done.returncode, done.stdout) == (254, "")
    assert "no C compiler was found when it was started. Install gcc or clang" in done.stderr
    assert me.gpuchaos("enter", "--", "echo", "here").stdout == "here\n"


def _needs_to_compile() -> None:
    from fakes.nvml.shim import build

    if (Path(build.__file__).parent / build.NAME).exists():
        pytest.skip("the library came compiled")


def test_several_nodes_are_told_apart_by_name(me):
    """With several running, one must be chosen; a name serves one run at a time."""
    me.start_node("--name", "one")
    assert me.gpuchaos("status").returncode == 0
    me.start_node("--name", "two")

    done = me.gpuchaos("inject", "lost", "gpu=0")
    assert done.returncode == 254
    assert "several fake nodes are running (one, two): choose one with --node NAME." in done.stderr
    assert me.gpuchaos("inject", "lost", "gpu=0", "--node", "two").stdout == "lost-1\n"
    assert me.status("--node", "one")["faults"] == []

    done = me.gpuchaos("node", "h100-sxm", "--name", "two", "--", "true")
    assert done.returncode == 254
    assert "a fake node named 'two' is running already" in done.stderr


def test_a_current_directory_that_is_gone_is_no_obstacle(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """The program runs all the same, at the root."""
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", 'cd "$1" && rmdir "$1" && shift && exec "$@"', "sh", str(gone),
         sys.executable, "-m", "chaos", "node", "h100-sxm", "--gpus", "1", "--", "pwd"],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "/\n"), done.stderr
