"""The program that stands for one rank of a job, and what such a process finds in its environment.

It is a few lines of C (``rank.c``), compiled on first use; where that cannot be, a shell waits in
its place.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fakes.nvml.shim.build import LibraryError, cache_directory, compiler
from fakes.process import ProcessSpec

_SOURCE = Path(__file__).with_name("rank.c")
_SHELL_WAITS = 'echo "${0##*/}" > /proc/$$/comm; read -r _'
_FIRST_JOB = 1001


@dataclass(frozen=True, slots=True)
class Holder:
    """A program that waits: its path, and what stands between a rank's first and other words."""

    program: Path
    words: tuple[str, ...] = ()

    def argv(self, command: tuple[str, ...]) -> list[str]:
        """The words that a process of ``command`` is started with."""
        name, *rest = command
        return [name, *self.words, *((name,) if self.words else ()), *rest]


def holder() -> Holder:
    """The compiled program, or a shell that waits: its command line shows that it is one."""
    try:
        return Holder(_compiled())
    except (LibraryError, OSError, subprocess.SubprocessError):
        shell = shutil.which("sh") or "/bin/sh"
        return Holder(Path(shell), ("-c", _SHELL_WAITS))


def _compiled() -> Path:
    """The program in the user's cache, under a name made from its source."""
    digest = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:16]
    program = cache_directory() / f"rank-{platform.machine()}-{digest}"
    if not program.is_file():
        command = compiler()
        program.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=program.parent) as scratch:
            built = Path(scratch) / "rank"
            subprocess.run(
                [*command, "-Os", "-o", str(built), str(_SOURCE)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=True,
            )
            built.replace(program)
    return program


def environment(spec: ProcessSpec, node: str, job_number: int) -> dict[str, str]:
    """What Slurm and torchrun tell a rank, and nothing of this machine's."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": f"/home/{spec.user}",
        "USER": spec.user,
        "LOGNAME": spec.user,
        "SLURM_JOB_ID": str(_FIRST_JOB + job_number),
        "SLURM_JOB_NAME": spec.job,
        "SLURM_JOB_USER": spec.user,
        "SLURM_NTASKS": str(spec.ranks),
        "SLURM_PROCID": str(spec.rank),
        "SLURM_LOCALID": str(spec.local_rank),
        "SLURMD_NODENAME": node,
        "WORLD_SIZE": str(spec.ranks),
        "RANK": str(spec.rank),
        "LOCAL_RANK": str(spec.local_rank),
        "CUDA_VISIBLE_DEVICES": str(spec.gpu),
    }
