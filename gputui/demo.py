"""``--demo``: the monitor on a fake node, started by another program.

The monitor itself never learns that it looks at a fake, and imports nothing of it: it hands its
own command line over to ``gpuchaos``.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

DEFAULT = "demo"


class DemoError(Exception):
    """The program that fakes a node is not here."""


class NoSuchDemoError(Exception):
    """There is no such scenario, or it is not well-formed; the message says what is wrong."""


def run_demo(scenario: str, arguments: Sequence[str]) -> NoReturn:
    """Become ``gpuchaos run SCENARIO -- gputui ARGUMENTS``; raises :class:`DemoError` if not,
    or :class:`NoSuchDemoError` if there is no such scenario, or mistakes are in it.

    The run has a name of its own, so that two people, or one person twice, can look at demos.
    """
    found = importlib.util.find_spec("chaos")
    here = Path(__file__).resolve().parents[1]
    if found is None or found.origin is None:
        raise DemoError(
            "--demo needs gpuchaos, which comes with gputui: reinstall it with pip install gputui"
        )
    if Path(found.origin).resolve().parents[1] != here:
        raise DemoError(
            f'--demo needs gputui\'s own package "chaos"; another one stands in its way: '
            f"{found.origin}"
        )
    _check(scenario, here)
    options = ["--name", f"demo-{os.getpid()}", *_writable(arguments)]
    monitor = [sys.executable, "-m", "gputui", *arguments]
    command = [sys.executable, "-m", "chaos", "run", scenario, *options, "--", *monitor]
    sys.stdout.flush()
    os.execv(command[0], command)


def _check(scenario: str, here: Path) -> None:
    """Raise :class:`NoSuchDemoError` for what is neither a file nor a scenario that comes along.

    Those lie inside the installed package, or beside it in a checkout; to look is much quicker than
    to ask the other program, which has the last word.
    """
    if "/" in scenario or scenario.endswith((".yaml", ".yml")):
        if not Path(scenario).is_file():
            raise NoSuchDemoError(f"there is no scenario file {scenario}")
        _refuse_mistakes(scenario)
        return
    folders = (here / "chaos" / "scenarios", here / "scenarios")
    folder = next((one for one in folders if one.is_dir()), None)
    names = {} if folder is None else {path.stem: path for path in folder.rglob("*.yaml")}
    if names and scenario not in names:
        import difflib

        near = difflib.get_close_matches(scenario, names, 1)
        meant = f"did you mean {near[0]}? " if near else ""
        known = ", ".join(sorted(names))
        raise NoSuchDemoError(
            f'no demo is called "{scenario}"; {meant}there are {known}, or give a .yaml file'
        )


def _refuse_mistakes(path: str) -> None:
    """Raise :class:`NoSuchDemoError` for a file that is not well-formed.

    Whoever plays it knows what is: asked beforehand, its answer becomes one of ours.
    """
    import subprocess

    asked = [sys.executable, "-m", "chaos", "check", path]
    answer = subprocess.run(asked, capture_output=True, text=True, errors="replace", check=False)
    if answer.returncode == 0:
        return
    mistakes = answer.stderr.strip().splitlines() or ["gpuchaos check gave no reason"]
    told = "\n".join(f"  {mistake}" for mistake in mistakes)
    raise NoSuchDemoError(f"--demo cannot play {path}:\n{told}")


def _writable(arguments: Sequence[str]) -> Iterator[str]:
    """The option that lets the monitor write its recording: on a node files are read-only."""
    for word, following in zip(arguments, [*arguments[1:], ""], strict=False):
        option, equals, value = word.partition("=")
        if option == "--record":
            yield from ("--writable", str(Path(value if equals else following).parent))
