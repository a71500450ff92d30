"""Scenario files as tests: each runs in a process of its own, as ``gpuchaos test`` would run it."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from gpuchaos_pytest.program import own_program

_MOST_BYTES = 1 << 20
_FIRST_KEY = re.compile(rb"\A(?:\xef\xbb\xbf)?(?:[ \t]*(?:#[^\n]*)?\r?\n)*scenario:[ \t]+[\w\"'-]")
_EXPECTS = re.compile(rb"^expect:", re.MULTILINE)


def is_test(path: Path) -> bool:
    """Whether a YAML file's first key is ``scenario``, and something is expected of it."""
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES)
    except OSError:
        return False
    return _FIRST_KEY.match(raw) is not None and _EXPECTS.search(raw) is not None


class ScenarioFile(pytest.File):
    """A scenario file: one test."""

    def collect(self) -> Iterable[pytest.Item]:
        """The test."""
        yield ScenarioItem.from_parent(self, name=self.path.stem)


class ScenarioError(Exception):
    """A scenario that did not pass; its text is the report on it."""


class ScenarioItem(pytest.Item):
    """A scenario in virtual time."""

    def runtest(self) -> None:
        """Run it; anything but a pass is a :class:`ScenarioError`."""
        with tempfile.TemporaryDirectory(prefix="gpuchaos-") as folder:
            told = Path(folder) / "report.json"
            command = own_program("chaos.cli", "test", str(self.path), "--json", str(told))
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
            )
            report = _read(told)
        self.user_properties += [
            (f"gpuchaos_{name}", report[name]) for name in ("verdict", "seed") if name in report
        ]
        for finding in report.get("findings", ()):
            text = f"{finding['finding']}: {finding['text']} (line {finding['line']})"
            self.add_report_section("call", "about the runbook", text)
        if done.returncode:
            raise ScenarioError(f"{done.stdout}{done.stderr}".rstrip())

    def repr_failure(
        self,
        excinfo: pytest.ExceptionInfo[BaseException],
        style: Any = None,
    ) -> Any:
        """The report itself, and no traceback of ours."""
        if isinstance(excinfo.value, ScenarioError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it is."""
        return self.path, 0, f"scenario {self.name}"


def _read(path: Path) -> dict[str, Any]:
    """The one line of a JSON report; nothing, if there is none."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found
