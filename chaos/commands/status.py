"""``gpuchaos status``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from chaos.commands import Arguments
from chaos.commands.enter import add_run_option, find_run
from chaos.real_time.control import ask


class StatusCommand:
    """Say what a running fake node is, and what is broken on it now."""

    example = "gpuchaos status"
    takes_program = False

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Which fake, and in which form."""
        parser.add_argument("--json", action="store_true", help="for programs")
        add_run_option(parser)

    def run(self, arguments: Arguments) -> int:
        """Ask the run; print its answer."""
        status = ask(find_run(arguments.options.node), {"do": "status"})
        if arguments.options.json:
            print(json.dumps(status, indent=1))
        else:
            print("\n".join(_lines(status)))
        return 0


def _lines(status: dict[str, Any]) -> Iterator[str]:
    pace = "" if status["rate"] == 1 else f" at {status['rate']:g} x"
    yield (
        f"{status['name']}: {len(status['nodes'])} x {status['gpus']} {status['model']}, "
        f"{status['now_s']:.0f} s in{pace}, {status['tier']}"
    )
    for node in status["nodes"]:
        pids = [str(process["pid"]) for process in node["processes"]]
        lost = ", ".join(str(index) for index in node["lost_gpus"])
        yield (
            f"  {node['name']}: PIDs {' '.join(pids) or 'none'}"
            + (f"; lost GPUs: {lost}" if lost else "")
        )
    for fault in status["faults"]:
        words = " ".join(f"{name}={value}" for name, value in fault["arguments"].items())
        yield f"  {fault['id']}: {fault['fault']} {words} ({_span(fault, status['now_s'])})"
    if not status["faults"]:
        yield "  nothing is broken"
    for problem in status["problems"]:
        yield f"  {problem}"


def _span(fault: dict[str, Any], now_s: float) -> str:
    """How long a fault has been in force, and how much longer it will be."""
    so_far = f"for {max(0.0, now_s - fault['since_s']):.0f} s"
    if fault["until_s"] is None:
        return f"{so_far}, until healed"
    return f"{so_far}, heals in {max(0.0, fault['until_s'] - now_s):.0f} s"
