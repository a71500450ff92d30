"""The program that stands for one rank of a job, and what such a process finds in its environment.

It is a few lines of C (``rank.c``), compiled on first use. Where that cannot be, a shell waits in
its place, under the same words: it runs a script of the name that the job's own has.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from chaos.sandbox.compiled import compiled
from fakes.jobs.process import ProcessSpec
from fakes.nvml.shim.build import LibraryError

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_FIRST_JOB = 1001

JOB_LOGS = "slurm-*.out"
"""The names of the files to which jobs write, as sbatch(1) calls them."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """How to start a process that waits: its program, the words it shows, where it starts."""

    program: Path
    words: tuple[str, ...]
    directory: Path = Path("/")


class Holder(Protocol):
    """Knows how to let a process wait under the words of a job's command."""

    def waiting(self, words: tuple[str, ...]) -> Waiting:
        """How to start it."""
        ...


@dataclass(frozen=True, slots=True)
class CompiledHolder:
    """The program of ``rank.c``."""

    program: Path

    def waiting(self, words: tuple[str, ...]) -> Waiting:
        """It takes any words."""
        return Waiting(self.program, words)


@dataclass(frozen=True, slots=True)
class ShellHolder:
    """A shell that waits for the end of its input. Its scripts go to ``folder``."""

    shell: Path
    folder: Path

    def waiting(self, words: tuple[str, ...]) -> Waiting:
        """As ``WORD SCRIPT ...`` where the second word can be a script's name; else it shows."""
        name = words[0].rsplit("/", 1)[-1]
        script = f"echo '{name}' > /proc/$$/comm\nread -r _\n"
        if len(words) > 1 and _PLAIN_NAME.fullmatch(words[1]):
            # Put in place whole: a shell started a moment ago may be about to read it.
            fresh = self.folder / f".{words[1]}"
            fresh.write_text(script, encoding="utf-8")
            fresh.replace(self.folder / words[1])
            return Waiting(self.shell, words, self.folder)
        return Waiting(self.shell, (words[0], "-c", script, *words))


def find_holder(folder: Path) -> Holder:
    """The compiled program, or a shell. ``folder`` is made; what starts a process lies there."""
    folder.mkdir()
    folder.chmod(0o755)
    try:
        program = Path(shutil.copyfile(compiled("rank"), folder / "rank"))
        program.chmod(0o755)
        return CompiledHolder(program)
    except LibraryError:
        return ShellHolder(Path("/bin/sh"), folder)


def slurm_id(job_number: int) -> int:
    """The id that Slurm would have given a node's first job, its second ..."""
    return _FIRST_JOB + job_number


def job_log(folder: Path, job_number: int) -> Path:
    """The file to which the processes of a job write."""
    return folder / JOB_LOGS.replace("*", str(slurm_id(job_number)))


def environment(spec: ProcessSpec, node: str, job_number: int) -> dict[str, str]:
    """What Slurm and torchrun tell a rank, and nothing of this machine's.

    A process that belongs to no job is told nothing by either.
    """
    words = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": f"/home/{spec.user}",
        "USER": spec.user,
        "LOGNAME": spec.user,
        "CUDA_VISIBLE_DEVICES": str(spec.gpu),
    }
    if not spec.job:
        return words
    return words | {
        "SLURM_JOB_ID": str(slurm_id(job_number)),
        "SLURM_JOB_NAME": spec.job,
        "SLURM_JOB_USER": spec.user,
        "SLURM_NTASKS": str(spec.ranks),
        "SLURM_PROCID": str(spec.rank),
        "SLURM_LOCALID": str(spec.local_rank),
        "SLURMD_NODENAME": node,
        "WORLD_SIZE": str(spec.ranks),
        "RANK": str(spec.rank),
        "LOCAL_RANK": str(spec.local_rank),
    }
