"""``dcgmi diag``: tests of GPUs, as a table or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fakes.commands.dcgmi.diagnostic import Outcome, chosen, conduct, status_of
from fakes.commands.dcgmi.engine import Engine, NotImitated, gpus_of, read
from fakes.commands.dcgmi.tables import Table, joined
from fakes.hardware.gpu import Gpu
from fakes.system.dcgm import VERSION, Status

_FLAGS = {
    "-j": "json", "--json": "json", "--fail-early": "fail-early", "-v": "verbose",
    "--verbose": "verbose", "--statsonfail": "statsonfail", "-t": "train", "-h": "help",
    "--help": "help",
}  # fmt: skip
_VALUES = {
    "-r": "run", "--run": "run", "-i": "gpus", "--gpuList": "gpus", "--entity-id": "gpus",
    "-g": "group", "--group": "group", "--host": "host", "-p": "parameters",
    "--parameters": "parameters", "-c": "configfile", "--configfile": "configfile",
    "--debugLogFile": "log", "-d": "level", "--debugLevel": "level", "--statspath": "statspath",
    "--throttle-mask": "mask", "--check-interval": "interval", "--iterations": "iterations",
    "--timeout": "timeout", "--plugin-path": "plugins", "-f": "fakes",
}  # fmt: skip
_HELP = """\
dcgmi diag -r 1|2|3|4 | TEST,TEST ... [-i GPUS | -g GROUP] [-j] [--fail-early]
"""
_SKIPPED = "EUD Test"


def run(argv: Sequence[str], engine: Engine) -> int:
    """Run the diagnostic; its exit status."""
    options = read("diag", argv, _FLAGS, _VALUES)
    out = engine.out
    if "help" in options or "run" not in options:
        out.write(_HELP)
        return 0 if "help" in options else Status.BADPARAM.exit_status
    if set(options) & {"train", "fakes"}:
        raise NotImitated("diag " + " ".join(argv))
    tests = chosen(options["run"])
    if tests is None:
        out.write(f'Error: requested test "{options["run"]}" was not found among possible test ')
        out.write("choices.\n")
        return Status.BADPARAM.exit_status
    gpus = gpus_of(options, engine)
    early = "fail-early" in options
    outcomes = conduct(tests, engine.node, gpus, engine.world.now_us, fail_early=early)
    if "json" in options:
        out.write(json.dumps(_document(outcomes, gpus, engine), indent=4) + "\n")
    else:
        out.write(_table(outcomes, gpus, engine))
    return status_of(outcomes).exit_status


def _table(outcomes: Sequence[Outcome], gpus: Sequence[Gpu], engine: Engine) -> str:
    table = Table(27, 48)
    table.rule()
    table.row("Diagnostic", "Result")
    table.rule("=")
    table.section("Metadata", "|")
    table.row("DCGM Version", VERSION)
    table.row("Driver Version Detected", engine.node.driver.version)
    table.row("GPU Device IDs Detected", ",".join(_device_id(gpu) for gpu in gpus))
    category = ""
    for outcome in outcomes:
        test = outcome.test
        if test.category != category:
            category = test.category
            table.section(category, "|" if category == "Deployment" else "+")
        table.row(test.name, _result(outcome, len(gpus)))
        for trouble in outcome.troubles:
            table.row("Warning", trouble.text)
    table.rule()
    return "Successfully ran diagnostic for group.\n" + joined(table.lines)


def _result(outcome: Outcome, count: int) -> str:
    """A test's word, and the GPUs out of ``count`` that it is said of."""
    if outcome.test.whole:
        return outcome.word()
    meant = outcome.failed or outcome.skipped
    if not meant:
        return f"{outcome.word()} - All"
    word = outcome.word(meant[0])
    if word == "Skip" and len(meant) == count:
        return "Skip - All"
    return f"{word} - GPU{'s' if len(meant) > 1 else ''}: {', '.join(map(str, meant))}"


def _document(
    outcomes: Sequence[Outcome], gpus: Sequence[Gpu], engine: Engine
) -> dict[str, dict[str, Any]]:
    categories: dict[str, list[dict[str, Any]]] = {}
    for outcome in outcomes:
        told = categories.setdefault(outcome.test.category, [])
        told.append({"name": outcome.test.name, "results": _results(outcome, gpus)})
    return {
        "DCGM GPU Diagnostic": {
            "Driver Version Detected": engine.node.driver.version,
            "GPU Device IDs": [_device_id(gpu) for gpu in gpus],
            "test_categories": [
                {"category": name, "tests": tests} for name, tests in categories.items()
            ],
            "version": VERSION,
        }
    }


def _results(outcome: Outcome, gpus: Sequence[Gpu]) -> list[dict[str, Any]]:
    if outcome.test.whole:
        everybody = ",".join(str(gpu.index) for gpu in gpus)
        return [{"gpu_ids": everybody, "status": outcome.word(), **_warnings(outcome, None)}]
    return [
        {
            "gpu_id": str(gpu.index),
            "gpu_ids": str(gpu.index),
            "status": outcome.word(gpu.index),
            **_warnings(outcome, gpu.index),
        }
        for gpu in gpus
    ]


def _warnings(outcome: Outcome, gpu: int | None) -> dict[str, Any]:
    told = [
        {
            "warning": trouble.text,
            "error_id": trouble.error_id,
            "error_category": 1,
            "error_severity": 2 if trouble.isolate else 1,
        }
        for trouble in outcome.troubles
        if gpu in (None, trouble.gpu)
    ]
    return {"warnings": told} if told else {}


def _device_id(gpu: Gpu) -> str:
    return f"{gpu.profile.pci_device_id >> 16:04x}"
