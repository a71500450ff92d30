"""What a drill costs: processor seconds, and their ratio to the time of the run.

Bars: a drill of ten minutes on one node without a runbook 1 s within a process that is there, and
1.4 s as a command; with a shell script of 20 calls and ``sleep 600`` 2 s. Of several tries the
least counts: a machine that others use takes longer over the same.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

AIRWAY = """\
scenario: {name}
why: A blocked airway heats one GPU.
given:
  fleet: {{nodes: {nodes}, scheduler: slurm}}
  jobs: [{{id: train, nodes: "n0..n{last}"}}]
timeline:
  - {{id: block, at: 30s, thermal: {{gpu: n0/3, airflow: 20%}}}}
{runbook}expect:
  - {{incident: GpuThermalThrottle, gpu: n0/3, within: 10m, times: 1}}
  - {expected}
allow: [GpuPowerCapped, JobFailed]
"""
RUNBOOK = "runbook: {run: ./twenty.sh, when: GpuThermalThrottle}\n"
TWENTY = "#!/bin/bash\nfor each in $(seq 20); do nvidia-smi -L >/dev/null; done\nsleep 600\n"
STAYS = "{never: {action: reboot}}"
ENDS = "{exit: 0, within: 15m}"

TRIES = 3


class Kind(NamedTuple):
    """A sort of drill; its bars as a command and within a process, in seconds, where it has any."""

    nodes: int
    runbook: str
    expected: str
    command_bar_s: float | None = None
    inside_bar_s: float | None = None


DRILLS = {
    "one node": Kind(1, "", STAYS, 1.4, 1.0),
    "one node, a shell script of 20 calls": Kind(1, RUNBOOK, ENDS, 2.0, 2.0),
    "16 nodes, a shell script of 20 calls": Kind(16, RUNBOOK, ENDS),
}


def cpu_s(who: int) -> float:
    """Processor seconds of this process, or of its children that have ended."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def write(folder: Path) -> dict[str, Path]:
    """The scenarios, by what they are."""
    (folder / "twenty.sh").write_text(TWENTY, encoding="utf-8")
    (folder / "twenty.sh").chmod(0o755)
    found = {}
    for number, (what, kind) in enumerate(DRILLS.items()):
        name = f"drill-{number}"
        text = AIRWAY.format(
            name=name,
            nodes=kind.nodes,
            last=kind.nodes - 1,
            runbook=kind.runbook,
            expected=kind.expected,
        )
        found[what] = folder / f"{name}.yaml"
        found[what].write_text(text, encoding="utf-8")
    return found


def as_command(path: Path) -> tuple[float, float]:
    """Processor seconds and real seconds of ``gpuchaos test``."""
    before_s, began_s = cpu_s(resource.RUSAGE_CHILDREN), time.monotonic()
    words = [sys.executable, "-m", "chaos", "test", str(path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    return cpu_s(resource.RUSAGE_CHILDREN) - before_s, time.monotonic() - began_s


def inside(path: Path) -> tuple[float, float]:
    """Processor seconds within this process and its children; seconds of the run."""
    from chaos.format.loader import load
    from chaos.virtual.drill import drill

    before_s = cpu_s(resource.RUSAGE_SELF) + cpu_s(resource.RUSAGE_CHILDREN)
    result = drill(load(path))
    used_s = cpu_s(resource.RUSAGE_SELF) + cpu_s(resource.RUSAGE_CHILDREN) - before_s
    return used_s, result.end_us / 1e6


def beside(bar_s: float | None) -> str:
    """A bar as it stands beside a figure."""
    return "" if bar_s is None else f" (bar {bar_s:g} s)"


def main() -> None:
    """Measure each: as a command, and within this process."""
    with tempfile.TemporaryDirectory() as name:
        for what, path in write(Path(name)).items():
            kind = DRILLS[what]
            as_command(path)  # compiles what is not compiled yet
            command_s, wall_s = min(as_command(path) for _ in range(TRIES))
            inside_s, run_s = min(inside(path) for _ in range(TRIES))
            print(
                f"{what}: {command_s:.2f} s as a command{beside(kind.command_bar_s)}, "
                f"{wall_s:.1f} s by the wall; {inside_s:.2f} s within a process"
                f"{beside(kind.inside_bar_s)}; {run_s:.0f} s of the run, "
                f"{run_s / command_s:.0f} times as fast"
            )


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
