"""A driver whose library and kernel module are of different versions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.rule import CRITICAL, Finding, Over, Subject, after, lines, rule, samples
from gputui.logs.kernel import KernelEvent
from gputui.model import Action, NodeSample

_MISMATCH = 18
"""NVML_ERROR_LIB_RM_VERSION_MISMATCH."""

_KNOWN = re.compile(r"\((?:library [^)]*|kernel module [^)]*)\)")
_TOLD = re.compile(r"client (?P<library>[\d.]+), kernel module (?P<module>[\d.]+)")
_KINDS = ("version_mismatch", "mismatch_versions")
_ADVICE = (
    "stop all GPU processes and reload the module (rmmod nvidia_uvm nvidia_drm nvidia_modeset "
    "nvidia; modprobe nvidia), or reboot; hold the packages (apt-mark hold) until drained"
)


def _failed(now: NodeSample, past: History) -> Iterator[Finding | Over]:
    """NVML refuses to begin."""
    subject = Subject.of_node(now.host)
    if now.error_code != _MISMATCH:
        yield Over(subject)
        return
    said = _versions_in_log(past)
    known = _KNOWN.search(now.error or "")
    text = said or (known[0][1:-1] if known else "library and kernel module differ")
    yield _finding(subject, text, now.error or "NVML: driver/library version mismatch")


def _told(event: KernelEvent, past: History) -> Iterator[Finding]:
    """The module tells off each program that comes with another version."""
    host = past.samples[-1].host if past.samples else event.host or ""
    refused = [one for one in past.events("version_mismatch") if one.process]
    text = _versions_in_log(past) or "library and kernel module differ"
    if refused:
        text += f"; refused {refused[-1].process} (pid {refused[-1].pid})"
    yield _finding(Subject.of_node(host), text, event.text)


@rule(
    kind="DriverMismatch",
    severity=CRITICAL,
    holds=samples(1),
    clears=after(minutes=10),
    on_failure=_failed,
    on_log=_told,
    hears=lines(*_KINDS),
)
def driver_mismatch(now: NodeSample, past: History) -> Iterator[Finding]:
    """Who had begun before goes on: a good sample does not say that the next program can begin."""
    yield from ()


def _finding(subject: Subject, text: str, evidence: str) -> Finding:
    return Finding(
        subject,
        cause="versions",
        cause_text=text,
        action=Action.RELOAD_DRIVER,
        action_text=_ADVICE,
        evidence=(evidence,),
    )


def _versions_in_log(past: History) -> str:
    """Both versions, as the module told them last."""
    told = [found for one in past.events(*_KINDS) if (found := _TOLD.search(one.detail))]
    return f"library {told[-1]['library']}, kernel module {told[-1]['module']}" if told else ""
