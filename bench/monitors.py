"""What a monitor costs: gputui, nvitop, nvtop and gpustat beside each other on one fake node.

::

    python bench/monitors.py [--rounds 5] [--seconds 15]

A node with 8 GPUs and 20 processes; each program in turn on a terminal of 140 columns and 50 rows,
reading once a second. Processor time and memory are those of the program and all its children
(gputui's sampler is one). The first paint is the first time that a power limit is on the terminal.
Medians over the rounds with the smallest and the largest; a program that is not here is left out.
Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROWS, COLUMNS = 50, 140
SETTLE_S = 4.0
PAINT_S = 20.0
INSIDE = "GPUTUI_BENCH_INSIDE"

SCENARIO = """\
scenario: monitors
why: A full node for measuring what its monitors cost.
given:
  fleet: {nodes: 1, gpus: 8, model: h100-sxm}
  jobs:
    - {id: train, gpus: "n0/*", load: 95%, memory: 60GiB}
    - {id: infer, gpus: "n0/*", load: 10%, memory: 4GiB, user: bob, command: vllm serve llama}
    - {id: eval-0, gpus: n0/0, load: 5%, memory: 2GiB, user: carol}
    - {id: eval-2, gpus: n0/2, load: 5%, memory: 2GiB, user: carol}
    - {id: eval-4, gpus: n0/4, load: 5%, memory: 2GiB, user: carol}
    - {id: eval-6, gpus: n0/6, load: 5%, memory: 2GiB, user: carol}
"""

PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "gputui": (sys.executable, "-m", "gputui"),
    "nvitop": ("nvitop", "--interval", "1"),
    "nvtop": ("nvtop", "-d", "10"),
    "gpustat": ("gpustat", "-i", "1", "-P", "-u", "-p", "-c", "--force-color"),
}
ONCE: Mapping[str, tuple[str, ...]] = {
    "gputui --once --json": (*PROGRAMS["gputui"], "--once", "--json"),
    "nvitop -1": ("nvitop", "-1"),
}
WINDOW_MS = 500
"""What lies between the two samples of ``gputui --once``, which rates need."""

POWER_LIMIT = re.compile(rb"/\s*700\s*W")
ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x0f")

_WHERE, _CURSOR_AT = b"\x1b[6n", b"\x1b[1;1R"
"""The question that a program may wait to have answered: where the cursor is (ECMA-48 8.3.35)."""

BARS = (
    ("CPU", "cpu_percent", 0.5),
    ("bytes", "bytes_per_s", 1.0),
    ("first paint", "paint_ms", 3.0),
    ("memory", "memory_mib", 2.5),
)
"""What gputui may cost, as a multiple of nvitop's."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one program cost in one round."""

    cpu_percent: float
    bytes_per_s: float
    paint_ms: float
    memory_mib: float


def found(command: Sequence[str]) -> tuple[str, ...] | None:
    """The command with the path of its program; None where it is not here."""
    places = (str(Path(sys.executable).parent), str(ROOT / ".cache/nvtop/root/usr/bin"))
    path = shutil.which(command[0], path=os.pathsep.join((*places, os.environ.get("PATH", ""))))
    return None if path is None else (path, *command[1:])


class Opened:
    """A program on a terminal of its own, and how much it has drawn."""

    def __init__(self, command: Sequence[str]) -> None:
        self.started_s = time.monotonic()
        self.drawn = 0
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
            os.execvp(command[0], list(command))

    def read(self, for_s: float) -> bytes:
        """What it draws next, within ``for_s``; nothing if it draws nothing."""
        if not select.select([self._fd], [], [], max(for_s, 0.0))[0]:
            return b""
        data = os.read(self._fd, 1 << 16)
        self.drawn += len(data)
        os.write(self._fd, _CURSOR_AT * data.count(_WHERE))
        return data

    def watch(self, for_s: float) -> None:
        """Take in what it draws for so long."""
        until_s = time.monotonic() + for_s
        while (left_s := until_s - time.monotonic()) > 0:
            self.read(left_s)

    def first_paint_s(self) -> float:
        """Wait for the first reading on the terminal: how long after its start it came."""
        seen = b""
        while (waited_s := time.monotonic() - self.started_s) < PAINT_S:
            seen += self.read(PAINT_S - waited_s)
            if POWER_LIMIT.search(ESCAPES.sub(b"", seen)):
                return time.monotonic() - self.started_s
        raise SystemExit(f"no reading within {PAINT_S:g} s; drawn: {seen[-2000:]!r}")

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGTERM)
        with contextlib.suppress(OSError):
            while os.read(self._fd, 1 << 16):
                pass
        os.waitpid(self.pid, 0)
        os.close(self._fd)


def tree(pid: int) -> Iterator[Path]:
    """/proc of a process and of all its descendants."""
    yield Path("/proc") / str(pid)
    for task in (Path("/proc") / str(pid) / "task").iterdir():
        for child in (task / "children").read_text().split():
            yield from tree(int(child))


def processor_s(pid: int) -> float:
    """Processor time of a process and its descendants (/proc/PID/task/TID/schedstat, in ns)."""
    stats = (stat for one in tree(pid) for stat in one.glob("task/*/schedstat"))
    return sum(int(stat.read_text().split()[0]) for stat in stats) / 1e9


def resident_mib(pid: int) -> float:
    """Memory of a process and its descendants."""
    lines = (line for one in tree(pid) for line in (one / "status").read_text().splitlines())
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


def measure(command: Sequence[str], seconds: float) -> Cost:
    """Run a program for a while."""
    opened = Opened(command)
    try:
        paint_s = opened.first_paint_s()
        opened.watch(SETTLE_S)
        before_s, drawn, start_s = processor_s(opened.pid), opened.drawn, time.monotonic()
        opened.watch(seconds)
        lasted_s = time.monotonic() - start_s
        return Cost(
            cpu_percent=100 * (processor_s(opened.pid) - before_s) / lasted_s,
            bytes_per_s=(opened.drawn - drawn) / lasted_s,
            paint_ms=1000 * paint_s,
            memory_mib=resident_mib(opened.pid),
        )
    finally:
        opened.close()


def once_ms(command: Sequence[str]) -> float:
    """How long a program takes that prints one reading."""
    start_s = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return 1000 * (time.monotonic() - start_s)


def spread(values: Sequence[float], digits: int) -> str:
    """The median, and between what it lies."""
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:.{digits}f} ({low:.{digits}f}-{high:.{digits}f})"


def report(costs: Mapping[str, Sequence[Cost]], once: Mapping[str, Sequence[float]]) -> None:
    """The tables, and gputui beside its bars."""
    print(f"{'':10}{'CPU %':>20}{'bytes/s':>22}{'first paint ms':>22}{'memory MiB':>22}")
    for name, rounds in costs.items():
        cells = (
            spread([one.cpu_percent for one in rounds], 2),
            spread([one.bytes_per_s for one in rounds], 0),
            spread([one.paint_ms for one in rounds], 0),
            spread([one.memory_mib for one in rounds], 1),
        )
        print(f"{name:10}{cells[0]:>20}" + "".join(f"{cell:>22}" for cell in cells[1:]))
    for name, times in once.items():
        print(f"{name:22}{spread(times, 0):>20} ms")
    if len(once) == len(ONCE):
        ours, theirs = (statistics.median(once[name]) for name in ONCE)
        print(
            f"one reading  {ours - theirs:.0f} ms more than nvitop's; the window is {WINDOW_MS} ms"
        )
    if "nvitop" in costs:
        for word, field, most in BARS:
            ours, theirs = (
                statistics.median(getattr(one, field) for one in costs[name])
                for name in ("gputui", "nvitop")
            )
            verdict = "within" if ours <= most * theirs else "OVER"
            print(f"{word:12} {ours / theirs:.2f} of nvitop's, {verdict} the bar of {most:g}")


def inside(options: argparse.Namespace) -> None:
    """Measure, on the node."""
    programs = {name: path for name, words in PROGRAMS.items() if (path := found(words))}
    onces = {name: path for name, words in ONCE.items() if (path := found(words))}
    if options.only:
        programs = {name: path for name, path in programs.items() if name in options.only}
    costs: dict[str, list[Cost]] = {name: [] for name in programs}
    once: dict[str, list[float]] = {name: [] for name in onces}
    for number in range(options.rounds):
        order = list(programs)
        shift = number % len(order)
        for name in order[shift:] + order[:shift]:
            costs[name].append(measure(programs[name], options.seconds))
        for name, command in onces.items():
            once[name].append(once_ms(command))
    report(costs, once)


def main() -> int:
    """Start the node and, on it, this program again."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--seconds", type=float, default=15.0, metavar="S")
    parser.add_argument("--only", nargs="+", default=[], choices=PROGRAMS, metavar="PROGRAM")
    options = parser.parse_args()
    if os.environ.get(INSIDE):
        inside(options)
        return 0
    compileall.compile_dir(ROOT / "gputui", quiet=1)  # as whatever is installed is
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "monitors.yaml"
        scenario.write_text(SCENARIO, encoding="utf-8")
        environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLORTERM")}
        environment.update({INSIDE: "1", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
        environment["PYTHONPATH"] = str(ROOT)
        run = [
            sys.executable,
            "-m",
            "chaos",
            "run",
            str(scenario),
            "--name",
            f"bench-{os.getpid()}",
        ]
        done = subprocess.run([*run, "--", sys.executable, *sys.argv], env=environment, check=False)
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
