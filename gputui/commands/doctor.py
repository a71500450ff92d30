"""``gputui doctor``: whether work may be placed on this node, and what to mend before."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from gputui.commands.parser import CommandParser
from gputui.doctor.examination import Examined, examine, exit_code

_EXAMPLES = """\
gputui doctor                              every check, each with what mends it
gputui doctor --nodes n0,n1 --supply 10kW  with the nodes of a job, and the power supply
gputui doctor --manifest pod.yaml          what a Kubernetes manifest asks of GPUs (- is stdin)
gputui doctor --slurm | sh                 drain this node if anything is critical
"""

_EXIT_CODES = """\
exit codes: 0 good, 1 warnings, 2 critical, 3 could not check
"""

_MOST_NODES = 4096


def run(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    options = _parser().parse_args(list(arguments))
    found = _examined(options)
    host = os.uname().nodename
    if options.npd:
        from gputui.doctor.reports import npd

        sys.stdout.write(npd.write(found, host))
        return npd.status(found)
    if options.json:
        from gputui.doctor.reports.json import write
    elif options.slurm:
        from gputui.doctor.reports.slurm import write
    else:
        from gputui.doctor.reports.text import write
    sys.stdout.write(write(found, host))
    return exit_code(found)


def _parser() -> CommandParser:
    parser = CommandParser("doctor", _EXAMPLES, _EXIT_CODES)
    add = parser.add_argument
    add("--nodes", type=_nodes, default=(), metavar="LIST", help="names of the job's nodes: n[0-3]")
    add("--supply", type=_watts, metavar="POWER", help="what the power supplies give: 10kW")
    add("--only", type=_names, default=(), metavar="CHECKS", help="only these: ecc,pcie")
    add(
        "--manifest",
        type=Path,
        action="append",
        metavar="FILE",
        help="check a manifest instead; - is stdin",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one object")
    how.add_argument("--slurm", action="store_true", help="the command that drains, or nothing")
    how.add_argument("--npd", action="store_true", help="as node-problem-detector wants it")
    return parser


def _nodes(text: str) -> tuple[str, ...]:
    from gputui.doctor.hostlist import expanded

    try:
        names = expanded(text, most=_MOST_NODES)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return names


def _watts(text: str) -> float:
    from gputui.quantities import watts

    try:
        return watts(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _names(text: str) -> tuple[str, ...]:
    from gputui.doctor.checks import all_checks

    known = [one.name for one in all_checks()]
    names = tuple(text.split(","))
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f'no check "{name}": there are {", ".join(known)}')
    return names


def _examined(options: argparse.Namespace) -> tuple[Examined, ...]:
    if options.manifest:
        from gputui.doctor.manifest import examine_manifest

        return tuple(one for path in options.manifest for one in examine_manifest(path))
    from gputui.doctor.checks import all_checks
    from gputui.doctor.hostlist import expanded
    from gputui.doctor.reading import local_site

    nodes = options.nodes
    listed = os.environ.get("SLURM_JOB_NODELIST", "")
    if not nodes and listed:
        nodes = expanded(listed, most=_MOST_NODES)
    site = local_site(nodes=nodes, supply_w=options.supply)
    wanted = [one for one in all_checks() if not options.only or one.name in options.only]
    return examine(site, wanted)
