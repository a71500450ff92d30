"""Starts simulators for tests, many and quickly: forked from one Python that has all it takes.

Not collected by pytest; run as ``nursery.py``. ``start DIRECTORY GPUS SEED`` on stdin is answered
by the PID of a simulator that serves the directory, in trouble for ever; ``bury PID`` by the signal
that ended it. At the end of stdin, those that are left are ended.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

from node_simulator import Simulator

PR_SET_PDEATHSIG = 1


def start(directory: Path, gpus: int, seed: int) -> int:
    """Fork a simulator; its PID, once it serves."""
    ready, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        # Also where this Python is killed and cannot end what it started.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        try:
            simulator = Simulator(directory, gpus)
            os.write(tell, b"x")
            simulator.run_in_trouble(seed)
        finally:
            os._exit(1)
    os.close(tell)
    if not os.read(ready, 1):
        raise RuntimeError("the simulator did not start")
    os.close(ready)
    return pid


def main() -> None:
    """Do what stdin says."""
    living: set[int] = set()
    try:
        for line in sys.stdin:
            verb, *words = line.split()
            if verb == "start":
                pid = start(Path(words[0]), int(words[1]), int(words[2]))
                living.add(pid)
                print(pid, flush=True)
            else:
                _, status = os.waitpid(int(words[0]), 0)
                living.discard(int(words[0]))
                print(os.WTERMSIG(status), flush=True)
    finally:
        for pid in living:
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
