"""What a call of a look-alike costs inside a node, beside ``/bin/true`` in the same node.

Bar: 5 ms of real time for an ordinary call. Real time is that of a program on the node that starts
each command and waits for it, on a node that does nothing else. On a machine that others use the
least counts.

::

    python bench/calls.py
    python bench/calls.py --calls 300
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BAR_MS = 5.0

NOTHING = ("/bin/true",)
ORDINARY = (
    ("nvidia-smi", "-L"),
    ("nvidia-smi",),
    ("systemctl", "is-active", "nvidia-persistenced"),
    ("scontrol", "show", "node", "n0"),
    ("dmesg",),
)
LARGE = (("nvidia-smi", "-q"),)
"""What is asked for everything of eight GPUs has no bar."""


def called_ms(words: tuple[str, ...], calls: int) -> list[float]:
    """The real time of each of so many calls, after one that is not counted. For use on a node."""
    program = next(
        path
        for folder in ("", *os.get_exec_path())
        if os.access(path := f"{folder}/{words[0]}" if folder else words[0], os.X_OK)
    )
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    times_ms = []
    for _ in range(calls + 1):
        began_s = time.perf_counter()
        child = os.posix_spawn(program, words, os.environ, file_actions=quiet)
        _, status = os.waitpid(child, 0)
        times_ms.append(1000 * (time.perf_counter() - began_s))
        if status:
            raise SystemExit(f"{' '.join(words)}: exit {os.waitstatus_to_exitcode(status)}")
    return times_ms[1:]


def on_a_node(words: tuple[str, ...], calls: int) -> list[float]:
    """The same from outside, on a node of its own."""
    name = f"calls-{os.getpid()}"
    own = [sys.executable, __file__, "--inside", str(calls), *words]
    done = subprocess.run(
        [sys.executable, "-m", "chaos", "node", "h100-sxm", "--name", name, "--", *own],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    times_ms: list[float] = json.loads(done.stdout)
    return times_ms


def main() -> None:
    """Measure each command, on a node of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=100, metavar="N", help="of each command")
    parser.add_argument("--inside", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        calls, *words = options.inside
        print(json.dumps(called_ms(tuple(words), int(calls))))
        return
    for words in (NOTHING, *ORDINARY, *LARGE):
        times_ms = on_a_node(words, options.calls)
        least_ms, usual_ms = min(times_ms), statistics.median(times_ms)
        bar = f" (bar {BAR_MS:g} ms)" if words in ORDINARY else ""
        print(f"{' '.join(words):<42} least {least_ms:5.1f} ms, median {usual_ms:5.1f} ms{bar}")


if __name__ == "__main__":
    main()
