"""A driver that did not come up on a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gputui.incidents.history import History
from gputui.incidents.init_failure import init_failure
from gputui.incidents.offline import subject_of
from gputui.incidents.rule import CRITICAL, Cause, Finding, after, lines, log_rule
from gputui.logs.kernel import KernelEvent
from gputui.model import Action

_WITHIN_S = 60.0
_FAILED = ("init_failed", "probe_failed")
_REASON = "init_reason"
_NUMBERS = re.compile(r"\(0x[0-9a-f]+:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Reason:
    """A reason that the driver gives on a line of its own, and what ends it.

    ``advice`` may name the board in braces. ``is_whole`` says that the line alone tells of a
    failure, so that none needs to be waited for.
    """

    words: re.Pattern[str]
    text: str
    action: Action
    advice: str
    is_whole: bool


_REASONS = (
    _Reason(
        re.compile(r"nouveau"),
        "another driver, mostly nouveau, owns the board",
        Action.CHECK_CONFIG,
        "blacklist nouveau, then reboot: echo 'blacklist nouveau' > /etc/modprobe.d/nouveau.conf "
        "&& update-initramfs -u (or dracut -f)",
        is_whole=True,
    ),
    _Reason(
        re.compile(r"is already bound to "),
        "another driver owns the board",
        Action.CHECK_CONFIG,
        "see which driver has it (lspci -k -s {bus}), unbind it there, load nvidia",
        is_whole=True,
    ),
    _Reason(
        re.compile(r"BAR\d is 0M"),
        "the BIOS gave the board no room for its memory (BAR is 0M)",
        Action.CHECK_CONFIG,
        "switch on Above 4G decoding and Resizable BAR in the BIOS, or boot with pci=realloc",
        is_whole=True,
    ),
    _Reason(
        re.compile(r"version magic '|disagrees about version of symbol"),
        "its module was built for another kernel than the one that runs",
        Action.RELOAD_DRIVER,
        "build it for this kernel and load it (dkms autoinstall -k $(uname -r); modprobe nvidia)",
        is_whole=True,
    ),
    _Reason(
        re.compile(r"unexpected WPR2 already up"),
        "its firmware still runs from before (WPR2 is up)",
        Action.RESET_GPU,
        "reset that GPU (nvidia-smi -r -i {bus}); if it comes back, power-cycle the node",
        is_whole=False,
    ),
)


@log_rule(
    kind="DriverNotLoaded",
    severity=CRITICAL,
    clears=after(hours=24),
    hears=lines(_REASON, *_FAILED),
)
def init_failed(event: KernelEvent, past: History) -> Iterator[Finding]:
    """RmInitAdapter or the probe failed: the module is there, the GPU is not usable.

    The reason stands on a line of its own, before or after. Of a GPU that is off the bus, or
    without its power cable, this is no more than what follows.
    """
    reason = _reason(event, past)
    if event.kind == _REASON and (reason is None or not reason.is_whole):
        return
    action, advice = _advice(event, reason)
    yield Finding(
        subject_of(event, past),
        cause="configuration",
        cause_text=f"the driver does not come up: {_text(_telling(event, past), reason)}",
        action=action,
        action_text=advice,
        evidence=(event.text,),
        under=(Cause("GpuLost", within_s=_WITHIN_S), Cause("GpuXid", within_s=_WITHIN_S)),
    )


def _reason(event: KernelEvent, past: History) -> _Reason | None:
    """What the driver gave as the reason at about this time, of this board or of none by name."""
    for said in (event, *reversed(past.events(_REASON))):
        if said.kind != _REASON or abs(said.time_s - event.time_s) > _WITHIN_S:
            continue
        if said.bus_id is not None and event.bus_id not in (None, said.bus_id):
            continue
        for reason in _REASONS:
            if reason.words.search(said.detail):
                return reason
    return None


def _telling(event: KernelEvent, past: History) -> KernelEvent:
    """Of the lines on one failed start the one with numbers: the last ones only say that it did."""
    lines = [
        one
        for one in past.events("init_failed")
        if one.bus_id == event.bus_id
        and abs(one.time_s - event.time_s) <= _WITHIN_S
        and _NUMBERS.search(one.detail or one.text)
    ]
    return lines[-1] if lines and event.kind in _FAILED else event


def _text(event: KernelEvent, reason: _Reason | None) -> str:
    """The reason, and the line's own words with what its numbers mean."""
    words = event.detail or event.text
    if event.kind == "init_failed" and _NUMBERS.search(words):
        failure = init_failure([event])
        meaning = failure.text.partition(": ")[2] if failure is not None else ""
        words = f"{words}: {meaning}" if meaning else words
    return f"{reason.text}; {words}" if reason is not None else words


def _advice(event: KernelEvent, reason: _Reason | None) -> tuple[Action, str]:
    if reason is not None:
        return reason.action, reason.advice.format(bus=event.bus_id or "BUS-ID")
    if event.bus_id is not None:  # the others of the node may be at work
        return (
            Action.RESET_GPU,
            f"reset that GPU (nvidia-smi -r -i {event.bus_id}); if it does not come up, drain and "
            "reboot the node, then reseat the board (dmesg | grep NVRM says more)",
        )
    return (
        Action.RELOAD_DRIVER,
        "reload the driver, or reboot; if it comes back, reseat the board "
        "(dmesg | grep NVRM says more)",
    )
