"""``gpuchaos inject``."""

from __future__ import annotations

import argparse

from chaos.commands import Arguments
from chaos.commands.enter import add_run_option, find_run
from chaos.errors import UsageError, quoted
from chaos.fault import ArgumentError, parse_fault
from chaos.format.values import BadValueError, Duration, convert
from chaos.real_time.control import ask


class InjectCommand:
    """Break something on a running fake node, and print the fault's id.

    A bare number as gpu means that GPU of node n0. 'gpuchaos faults' lists the faults.
    """

    example = "gpuchaos inject xid gpu=5 code=79"
    takes_program = False

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """The fault and its arguments."""
        parser.add_argument("fault", metavar="FAULT", help="see gpuchaos faults")
        parser.add_argument("arguments", nargs="*", metavar="KEY=VALUE", help="its arguments")
        parser.add_argument(
            "--for", dest="duration", metavar="60s", help="heal it after so long (run's time)"
        )
        add_run_option(parser)

    def run(self, arguments: Arguments) -> int:
        """Check what can be checked here, then ask the run."""
        options = arguments.options
        given: dict[str, str] = {}
        for word in options.arguments:
            name, equals, value = word.partition("=")
            if not equals or not name or name in given:
                what = "is given twice" if name in given else "is not KEY=VALUE"
                raise UsageError(f"{quoted(word)} {what}.")
            given[name] = value
        try:
            parse_fault(options.fault, given)
            if options.duration is not None:
                convert(options.duration, Duration)
        except ArgumentError as error:
            raise UsageError(str(error)) from error
        except BadValueError as error:
            raise UsageError(f"--for: {error}") from error
        request = {"do": "inject", "fault": options.fault, "arguments": given}
        if options.duration is not None:
            request["for"] = options.duration
        print(ask(find_run(options.node), request)["id"])
        return 0
