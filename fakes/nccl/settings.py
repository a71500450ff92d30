"""The environment variables that NCCL goes by on a node, and the files that they come from.

What is set in the job's own environment holds; else what ``~/.nccl.conf`` says (or the file that
NCCL_CONF_FILE names), else ``/etc/nccl.conf`` (NCCL's manual, "Environment Variables"; initEnv in
src/misc/param.cc, which never replaces what is set). The first are one for all nodes: a job's own
environment is what its script sources from the user's home, which the nodes share. The last is
each node's own.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from fakes.system.text_files import TextFiles

NODE_FILE = "/etc/nccl.conf"

_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)")
_HEAD = "# The job's script sources this file at every start.\n"


def job_file(user: str, job: str) -> str:
    """Where a job's environment stands: ``/home/alice/train.env``."""
    return f"/home/{user}/{job}.env"


def usual_text() -> str:
    """What a job's environment is unless somebody changed it."""
    return f"{_HEAD}export NCCL_DEBUG=WARN\n"


def assignments(text: str) -> dict[str, str]:
    """The variables that a file of shell assignments sets; the last of a name holds."""
    found = {}
    for line in text.splitlines():
        match = _ASSIGNMENT.fullmatch(line)
        if match:
            found[match[1]] = _unquoted(match[2])
    return found


def with_setting(text: str, name: str, value: str | None) -> str:
    """The text with a variable set, or, with None, not set."""
    kept = [
        line
        for line in text.splitlines()
        if (match := _ASSIGNMENT.fullmatch(line)) is None or match[1] != name
    ]
    if value is not None:
        kept.append(f"export {name}={shlex.quote(value)}")
    return "".join(f"{line}\n" for line in kept)


def effective(
    own: Mapping[str, str], homes: TextFiles, node: TextFiles, user: str
) -> dict[str, str]:
    """What NCCL sees in a process of ``user`` whose environment is ``own``."""
    named = own.get("NCCL_CONF_FILE")
    path = named or f"/home/{user}/.nccl.conf"
    files = (node.read(NODE_FILE), homes.read(path) or node.read(path))
    found: dict[str, str] = {}
    for text in files:
        found.update(_conf(text or ""))
    return {**found, **own}


def _conf(text: str) -> dict[str, str]:
    """NCCL's own format: NAME=VALUE, a line each; what begins with # is none."""
    pairs = (line.strip().partition("=") for line in text.splitlines())
    return {
        name.strip(): value.strip()
        for name, equals, value in pairs
        if equals and not name.startswith("#")
    }


def _unquoted(value: str) -> str:
    """A value as a shell takes it."""
    try:
        words = shlex.split(value, comments=True)
    except ValueError:
        return value.strip()
    return words[0] if words else ""
