"""``dcgmi stats``: what jobs used, from a start to a stop that somebody calls."""

from __future__ import annotations

from collections.abc import Sequence

from fakes.commands.dcgmi.engine import Engine, NotImitated, RefusedError, gpus_of, read
from fakes.commands.dcgmi.tables import Table, joined
from fakes.system.dcgm import Status

_FLAGS = {
    "-e": "enable", "--enable": "enable", "-d": "disable", "--disable": "disable",
    "-v": "verbose", "--verbose": "verbose", "-h": "help", "--help": "help",
    "-a": "removeall", "--jremoveall": "removeall",
}  # fmt: skip
_VALUES = {
    "-g": "group", "--group": "group", "-s": "start", "--jstart": "start", "-x": "stop",
    "--jstop": "stop", "-j": "job", "--job": "job", "-r": "remove", "--jremove": "remove",
    "-p": "pid", "--pid": "pid", "--host": "host",
}  # fmt: skip
_HELP = "dcgmi stats [-g GROUP] --enable | -s JOB | -x JOB | -v -j JOB | -r JOB\n"


def run(argv: Sequence[str], engine: Engine) -> int:
    """Begin, end or tell."""
    options = read("stats", argv, _FLAGS, _VALUES)
    out, jobs, now_us = engine.out, engine.memory.jobs, engine.world.now_us
    if "help" in options or not set(options) - {"group", "host", "verbose"}:
        out.write(_HELP)
    elif "enable" in options:
        out.write("Successfully started process watches.\n")
    elif "disable" in options:
        out.write("Successfully stopped process watches.\n")
    elif "start" in options:
        jobs[options["start"]] = now_us, None
        out.write(f"Successfully started recording stats for {options['start']}.\n")
    elif "stop" in options:
        began_us, _ = _job(options["stop"], engine)
        jobs[options["stop"]] = began_us, now_us
        out.write(f"Successfully stopped recording stats for {options['stop']}.\n")
    elif "remove" in options:
        _job(options["remove"], engine)
        del jobs[options["remove"]]
        out.write(f"Successfully removed job {options['remove']}.\n")
    elif "removeall" in options:
        jobs.clear()
        out.write("Successfully removed all jobs.\n")
    elif "job" in options:
        out.write(_report(options, engine))
    else:
        raise NotImitated("stats " + " ".join(argv))
    return 0


def _job(name: str, engine: Engine) -> tuple[int, int | None]:
    if name not in engine.memory.jobs:
        raise RefusedError(
            f"Error: Unable to retrieve job statistics for {name}. Return: No data is available",
            Status.NO_DATA,
        )
    return engine.memory.jobs[name]


def _report(options: dict[str, str], engine: Engine) -> str:
    name, now_us = options["job"], engine.world.now_us
    began_us, ended_us = _job(name, engine)
    until_us = now_us if ended_us is None else ended_us
    epoch = engine.node.epoch
    lines = [f"Successfully retrieved statistics for job: {name}. "]
    for gpu in gpus_of(options, engine):
        table = Table(38, 38)
        table.rule("-")
        table.title(f"GPU ID: {gpu.index}")
        table.rule("=")
        table.row("-----  Execution Stats  -----")
        table.row("Start Time (us)", str(epoch.unix_us(began_us)))
        table.row("End Time (us)", str(epoch.unix_us(until_us)))
        table.row("Total Execution Time (sec)", f"{(until_us - began_us) / 1e6:.2f}")
        table.row("No. of Processes", str(len(engine.node.processes_on(gpu))))
        table.row("-----  Performance Stats  -----")
        table.row("Max GPU Memory Used (bytes)", str(gpu.memory_used_bytes(now_us)))
        table.row("SM Clock (MHz)", f"Avg: {gpu.sm_clock_mhz(now_us)}")
        table.row("SM Utilization (%)", f"Avg: {gpu.utilization_percent(now_us)}")
        table.row("-----  Event Stats  -----")
        table.row("Double Bit ECC Errors", str(gpu.memory_errors.all_volatile_uncorrected))
        table.row("PCIe Replay Warnings", str(gpu.pcie.replays))
        table.row("-----  Overall Health  -----")
        table.row("Overall Health", "Failure" if gpu.lost else "Healthy")
        table.rule()
        lines += table.lines
    return joined(lines)
