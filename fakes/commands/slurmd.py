"""``slurmd -C`` and ``-V``; ``sdiag``, ``sprio``, ``sshare``, ``sacctmgr`` in common forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.jobs.records import Phase
from fakes.node import Node
from fakes.slurm.client import NO_CONTROLLER, answers, print_version
from fakes.slurm.states import CPUS, MEMORY_MB, SOCKETS, heading_date, unix_s
from fakes.system.uptime import uptime_s
from fakes.world import World

_STARS = "*" * 55


@command("slurmd", latency_us=20_000)
def slurmd(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """What the node has, as it would stand in slurm.conf."""
    if list(argv) in (["-V"], ["--version"]):
        return print_version(out)
    if list(argv) != ["-C"]:
        err.write(f"slurmd {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    out.write(
        f"NodeName={node.name} CPUs={CPUS} Boards=1 SocketsPerBoard={SOCKETS} "
        f"CoresPerSocket={CPUS // SOCKETS} ThreadsPerCore=1 RealMemory={MEMORY_MB}\n"
    )
    minutes, second = divmod(int(uptime_s(node, world.now_us)), 60)
    hours, minute = divmod(minutes, 60)
    out.write(f"UpTime={hours // 24}-{hours % 24:02}:{minute:02}:{second:02}\n")
    return 0


@command("sdiag", latency_us=20_000)
def sdiag(argv: Sequence[str], world: World, out: TextIO, err: TextIO) -> int:
    """How many jobs there were."""
    if {"-V", "--version"} & set(argv):
        return print_version(out)
    if argv and set(argv) - {"-a", "--all", "-i", "--sort-by-id"}:
        err.write(f"sdiag {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    if not answers(world):
        err.write(f"slurm_get_statistics: {NO_CONTROLLER}\n")
        return 1
    jobs = world.cluster.jobs.values()
    count = {phase: sum(job.phase is phase for job in jobs) for phase in Phase}
    now = f"{heading_date(world)} ({unix_s(world, world.now_us)})"
    started = sum(job.started_us is not None for job in jobs)
    out.write(
        f"{_STARS}\nsdiag output at {now}\nData since      {now}\n{_STARS}\n"
        "Server thread count:  3\nAgent queue size:     0\nAgent count:          0\n"
        "Agent thread count:   0\nDBD Agent queue size: 0\n\n"
        f"Jobs submitted: {len(jobs)}\nJobs started:   {started}\n"
        f"Jobs completed: {count[Phase.COMPLETED]}\nJobs canceled:  {count[Phase.CANCELLED]}\n"
        f"Jobs failed:    {count[Phase.FAILED] + count[Phase.NODE_FAIL]}\n\n"
        f"Job states ts:  {now}\nJobs pending:   {count[Phase.PENDING]}\n"
        f"Jobs running:   {count[Phase.RUNNING]}\n"
    )
    return 0


@command("sprio", latency_us=20_000)
def sprio(argv: Sequence[str], world: World, out: TextIO, err: TextIO) -> int:
    """There is no such thing as a job's share of priority where jobs go in their order."""
    if {"-V", "--version"} & set(argv):
        return print_version(out)
    if not answers(world):
        err.write(f"sprio: error: {NO_CONTROLLER}\n")
        return 1
    err.write(
        "You are not running a supported priority plugin\n(priority/basic).\n"
        "Only 'priority/multifactor' is supported.\n"
    )
    return 1


@command("sshare", latency_us=20_000)
def sshare(argv: Sequence[str], world: World, out: TextIO, err: TextIO) -> int:
    """The one account."""
    if {"-V", "--version"} & set(argv):
        return print_version(out)
    if set(argv) - {"-a", "-l", "--all", "-U", "-A"}:
        err.write(f"sshare {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    names = ("Account", "User", "RawShares", "NormShares", "RawUsage", "EffectvUsage", "FairShare")
    widths = (-20, 10, 10, 11, 11, 13, 10)
    rows = (names, tuple("-" * abs(width) for width in widths),
            ("root", "", "", "0.000000", "0", "1.000000", ""))  # fmt: skip
    for row in rows:
        cells = [
            text.ljust(-width) if width < 0 else text.rjust(width)
            for text, width in zip(row, widths, strict=True)
        ]
        out.write(" ".join(cells) + " \n")
    return 0


_TABLES = {
    "cluster": (("Cluster", "ControlHost", "ControlPort", "RPC", "Share", "QOS"),
                ("cluster", "head", "6817", "10240", "1", "normal")),
    "account": (("Account", "Descr", "Org"), ("root", "default root account", "root")),
    "qos": (("Name", "Priority", "GraceTime", "UsageFactor"), ("normal", "0", "00:00:00", "1.0")),
    "user": (("User", "Def Acct", "Admin"), ("root", "root", "Administrator")),
    "association": (("Cluster", "Account", "User", "Share", "QOS"),
                    ("cluster", "root", "root", "1", "normal")),
}  # fmt: skip


@command("sacctmgr", latency_us=80_000)
def sacctmgr(argv: Sequence[str], out: TextIO, err: TextIO) -> int:
    """``show`` and ``list`` of what every accounting has."""
    if {"-V", "--version"} & set(argv):
        return print_version(out)
    flags = {letter for word in argv if word.startswith("-") for letter in word.lstrip("-")}
    words = [word for word in argv if not word.startswith("-")]
    bare = all(set(word.lstrip("-")) <= set("nPpis") for word in argv if word.startswith("-"))
    verb, what = (words[0].lower(), words[1].lower().rstrip("s")) if len(words) > 1 else ("", "")
    name = next((one for one in _TABLES if what and one.startswith(what)), None)
    if not bare or verb not in ("show", "list") or name is None or len(words) > 2:
        err.write(f"sacctmgr {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    heading, row = _TABLES[name]
    if "P" in flags or "p" in flags:
        end = "|\n" if "p" in flags else "\n"
        out.write("" if "n" in flags else "|".join(heading) + end)
        out.write("|".join(row) + end)
        return 0
    if "n" not in flags:
        out.write(" ".join(cell.rjust(10) for cell in heading) + " \n")
        out.write(" ".join("-" * max(len(cell), 10) for cell in heading) + " \n")
    out.write(" ".join(cell.rjust(10) for cell in row) + " \n")
    return 0
