"""How many lines of a kernel log ``gputui scan`` reads in a second, on one core.

::

    python bench/scan.py             a million lines, one in a hundred an Xid; median of three
    python bench/scan.py --lines 5000000 --stamps iso --json
    python bench/scan.py --shapes spread

Two shapes of a log are measured: ``busy``, a hundred lines a second, in which Xids soon repeat what
was said; and ``spread``, a line a second, so that each Xid is judged for itself. A run is the whole
command, from its start to its end. The logs are written to temporary files first; they hold what
such logs hold. Peak memory is told as well: it does not grow with the log. CPU time
is what counts on a machine that others use.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

NOISE = (
    "usb 1-1: new high-speed USB device number 4 using xhci_hcd",
    "EXT4-fs (nvme0n1p2): mounted filesystem with ordered data mode. Opts: (null)",
    'audit: type=1400 audit(1700000000.123:45): apparmor="DENIED" operation="open" comm="x"',
    "mlx5_core 0000:5e:00.0 ens1f0: Link up",
    "docker0: port 3(veth12ab) entered forwarding state",
    "IPv6: ADDRCONF(NETDEV_CHANGE): veth12ab: link becomes ready",
    "nvidia-uvm: Loaded the UVM driver, major device number 511.",
    "perf: interrupt took too long (2503 > 2500), lowering kernel.perf_event_max_sample_rate",
    "TCP: request_sock_TCP: Possible SYN flooding on port 8080. Sending cookies.",
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=abc,task=python,pid=999,uid=1000",
)

XID = (
    "NVRM: Xid (PCI:0000:{bus:02x}:00): {code}, pid={pid}, name=python3, Ch {channel:08x}, "
    "intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f4f_5a000000."
)


LINES_A_SECOND = {"busy": 100, "spread": 1}


def lines(count: int, stamps: str, rate: int) -> Iterator[str]:
    """A log of so many lines, so many a second, one in a hundred an Xid on one of eight GPUs."""
    order = random.Random(5)
    for number in range(count):
        if stamps == "iso":
            second, part = divmod(number, rate)
            clock = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(1_741_000_000 + second))
            stamp = f"{clock}.{part * 1_000_000 // rate:06d}+00:00 node-b kernel: "
        else:
            stamp = f"[{1000 + number / rate:12.6f}] "
        if order.random() < 0.01:
            message = XID.format(
                bus=0x10 + order.randrange(8),
                code=order.choice((13, 31, 31, 43, 63, 94)),
                pid=order.randrange(1000, 99_999),
                channel=number,
            )
        else:
            message = order.choice(NOISE)
        yield f"{stamp}{message}\n"


def main() -> None:
    """Write the logs, scan them, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--stamps", choices=("uptime", "iso"), default="uptime")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--shapes", nargs="+", choices=[*LINES_A_SECOND], default=[*LINES_A_SECOND])
    options = parser.parse_args()
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for shape in options.shapes:
        _measure(shape, options)


def _measure(shape: str, options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "kern.log"
        with log.open("w", encoding="utf-8") as file:
            file.writelines(lines(options.lines, options.stamps, LINES_A_SECOND[shape]))
        command = [sys.executable, "-m", "gputui", "scan", *["--json"] * options.json, str(log)]
        walls, cpus = [], []
        for _ in range(options.runs):
            wall_s, cpu_s = _run(command)
            walls.append(wall_s)
            cpus.append(cpu_s)
        megabytes = log.stat().st_size / 1e6
    wall_s, cpu_s = statistics.median(walls), statistics.median(cpus)
    peak_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{shape}: {options.lines} lines, {megabytes:.0f} MB, stamps: {options.stamps}")
    print(f"{options.lines / wall_s / 1e6:.2f} million lines a second ({wall_s:.2f} s)")
    print(f"{options.lines / cpu_s / 1e6:.2f} million lines a second of CPU ({cpu_s:.2f} s)")
    print(f"{peak_mib:.0f} MiB at most")


def _run(command: list[str]) -> tuple[float, float]:
    """Seconds by the clock and of CPU that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin_s = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
    wall_s = time.perf_counter() - begin_s
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit(f"gputui scan failed: {done.returncode}")
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
