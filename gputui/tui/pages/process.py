"""A process on a GPU: who, since when, how much, and whether it can be reached from here."""

from __future__ import annotations

from gputui.model import Ancestor, ProcessSample
from gputui.tui import format as fmt
from gputui.tui.pages.writer import Page, PageSource, Writer
from gputui.tui.panels.tree import NO_GPU
from gputui.tui.roles import Role
from gputui.tui.scene import Scene
from gputui.tui.text import Run, make_line
from gputui.tui.view import Key

_JOBS = {
    "slurm": "Slurm job",
    "lsf": "LSF job",
    "pbs": "PBS job",
    "pod": "pod",
    "container": "container",
}


def process_page(key: Key) -> PageSource:
    """The page of the process with this PID and GPU. While it is read, one that ended stays."""
    last: list[ProcessSample] = []

    def source(scene: Scene, width: int) -> Page:
        known = scene.snapshot.sample.processes if scene.snapshot else ()
        found = next((p for p in known if (p.pid, p.gpu) == key), None)
        if found is not None:
            last[:] = [found]
        writer = Writer(width)
        ancestor = _ancestor(scene, key)
        if ancestor is not None:
            _describe_ancestor(writer, scene, ancestor)
            return writer.page
        if not last:
            return (make_line([Run(" no longer there")], width),)
        describe(writer, last[0], is_there=found is not None)
        return writer.page

    return source


def _ancestor(scene: Scene, key: Key) -> Ancestor | None:
    """The process above others that a row of a tree stands for."""
    known = scene.snapshot.sample.ancestors if scene.snapshot else ()
    return next((one for one in known if (one.pid, NO_GPU) == key), None)


def _describe_ancestor(writer: Writer, scene: Scene, ancestor: Ancestor) -> None:
    writer.line(Run(f"process {ancestor.pid} ", Role.STRONG), Run("on no GPU itself"))
    writer.blank()
    writer.labelled("command", ancestor.command or "not known")
    writer.labelled("user", ancestor.user or "not known")
    if ancestor.parent_pid is not None:
        writer.labelled("started by", str(ancestor.parent_pid))
    sample = scene.snapshot.sample if scene.snapshot else None
    started = [p for p in sample.processes if p.parent_pid == ancestor.pid] if sample else []
    for process in started:
        writer.labelled("it started", f"{process.pid} on GPU {process.gpu}: {process.command}")


def describe(writer: Writer, process: ProcessSample, *, is_there: bool = True) -> None:
    """All that is known of a process."""
    writer.line(Run(f"process {process.pid} ", Role.STRONG), Run(f"on GPU {process.gpu}"))
    if not is_there:
        writer.line(Run("no longer there", Role.WARNING))
    writer.blank()
    writer.labelled("command", process.command or process.unreachable or "not known")
    writer.labelled("user", process.user or "not known")
    if process.job:
        writer.labelled(_JOBS.get(process.job_kind or "", "job"), process.job)
    writer.labelled("kind", process.kind)
    memory = process.memory_bytes
    writer.labelled("GPU memory", "not known" if memory is None else fmt.mib(memory))
    sm = process.sm_percent
    writer.labelled("SM", "no sample" if sm is None else f"{sm} %")
    cpu = process.cpu_percent
    writer.labelled("CPU", "not known" if cpu is None else f"{cpu:.0f} %")
    host = process.host_memory_bytes
    writer.labelled("host memory", "not known" if host is None else fmt.mib(host))
    ran = process.running_s
    writer.labelled("running", "not known" if ran is None else fmt.duration(ran))
    if process.parent_pid:
        writer.labelled("started by", str(process.parent_pid))
    if process.unreachable:
        writer.labelled("signals", f"none from here: {process.unreachable}", Role.WARNING)
