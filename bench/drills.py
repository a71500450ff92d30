"""What a drill costs: processor seconds, and their ratio to the time of the run.

Bars: a drill of ten minutes on one node without a runbook 1 s within a process that is there, and
1.4 s as a command; with a shell script of 20 calls and ``sleep 600`` 2 s.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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

DRILLS = {
    "one node": (1, "", STAYS),
    "one node, a shell script of 20 calls": (1, RUNBOOK, ENDS),
    "16 nodes, a shell script of 20 calls": (16, RUNBOOK, ENDS),
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
    for number, (what, (nodes, runbook, expected)) in enumerate(DRILLS.items()):
        name = f"drill-{number}"
        text = AIRWAY.format(
            name=name, nodes=nodes, last=nodes - 1, runbook=runbook, expected=expected
        )
        found[what] = folder / f"{name}.yaml"
        found[what].write_text(text, encoding="utf-8")
    return found


def main() -> None:
    """Measure each, twice as a command and once more within this process."""
    from chaos.format.loader import load
    from chaos.virtual.drill import drill

    with tempfile.TemporaryDirectory() as name:
        for what, path in write(Path(name)).items():
            for _ in range(2):  # the first one compiles what is not compiled yet
                before_s, began_s = cpu_s(resource.RUSAGE_CHILDREN), time.monotonic()
                words = [sys.executable, "-m", "chaos", "test", str(path)]
                done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
                command_s = cpu_s(resource.RUSAGE_CHILDREN) - before_s
                wall_s = time.monotonic() - began_s
            if done.returncode != 0:
                raise SystemExit(done.stdout + done.stderr)
            before_s = cpu_s(resource.RUSAGE_SELF) + cpu_s(resource.RUSAGE_CHILDREN)
            result = drill(load(path))
            inside_s = cpu_s(resource.RUSAGE_SELF) + cpu_s(resource.RUSAGE_CHILDREN) - before_s
            run_s = result.end_us / 1e6
            print(
                f"{what}: {command_s:.2f} s as a command ({wall_s:.1f} s by the wall), "
                f"{inside_s:.2f} s within a process; {run_s:.0f} s of the run, "
                f"{run_s / command_s:.0f} times as fast"
            )


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
