"""An RDMA port that works, and badly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.ports import RDMA, grown
from gputui.incidents.rule import INFO, WARNING, Finding, Subject, after, rule, samples
from gputui.model import Action, LinkSample, NodeSample, Severity

_DOWNS = ("link_downed",)
_RECOVERIES = ("link_error_recovery",)
_ERRORS = (
    "symbol_error", "port_rcv_errors", "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
)  # fmt: skip

_ALL = frozenset((*_DOWNS, *_RECOVERIES, *_ERRORS))

_FLAPS, _RETRAINS = 2, 3
"""So often within a minute and a half a link does not fail by chance."""

_ERROR_RATE = 1e-11
"""Errors a bit: ten times what the specification allows (10^-12; InfiniBand volume 2)."""

_LEAST_S = 9.0
"""Counters are read every ten seconds."""

_LEAST_PEERS = 3


@rule(kind="IbLinkDegraded", severity=WARNING, holds=samples(3), clears=after(minutes=5))
def ib_link_degraded(now: NodeSample, past: History) -> Iterator[Finding]:
    """It flaps, it counts more errors than a good cable, or it is slower than it should be.

    Slower than it was, or than most of its kind on this node: a cable that negotiates fewer or
    slower lanes holds up every collective. One flap alone is information. Marks of congestion are
    no errors; nor is what was counted before the start.
    """
    for link in now.links:
        if link.kind not in RDMA or not link.is_up:
            continue
        for key, text, severity in _troubles(link, now, past):
            yield Finding(
                Subject.of_nic(link.name),
                cause="link",
                cause_text=text,
                action=Action.CHECK_LINK,
                action_text=f"clean, reseat or swap its cable (mlxlink -d {_device(link)} -c)",
                evidence=(_told(link),),
                key=key,
                severity=severity,
            )


def _troubles(
    link: LinkSample, now: NodeSample, past: History
) -> Iterator[tuple[str, str, Severity]]:
    """What tells one trouble from another, what is so, and how bad it is."""
    # Those that never counted anything, which are most, cost nothing.
    counted = link.counters.keys() & _ALL
    downs, over_s = grown(past.samples, link.name, _DOWNS) if counted else (0, 0.0)
    retrains, _ = grown(past.samples, link.name, _RECOVERIES) if counted else (0, 0.0)
    if downs or retrains:
        text = f"went down {downs} and retrained {retrains} times in {over_s:.0f} s"
        often = downs >= _FLAPS or retrains >= _RETRAINS
        yield "flaps", text, WARNING if often else INFO
    errors, _ = grown(past.samples, link.name, _ERRORS) if counted else (0, 0.0)
    if errors and over_s >= _LEAST_S and link.speed_mbps:
        rate = errors / over_s
        if rate > _ERROR_RATE * link.speed_mbps * 1e6:
            yield "errors", f"{rate:.1f} errors/s on the wire", WARNING
    usual_mbps = max(past.ports.best_mbps(link.name), _usual_mbps(link, now))
    if link.speed_mbps and link.speed_mbps < usual_mbps:
        lanes = f" ({link.lanes})" if link.lanes else ""
        text = f"runs at {link.speed_mbps // 1000} of {usual_mbps // 1000} Gb/s{lanes}"
        yield "rate", text, WARNING


def _usual_mbps(link: LinkSample, now: NodeSample) -> int:
    """The speed of most of its kind; 0 where there are too few to tell."""
    speeds = Counter(
        one.speed_mbps
        for one in now.links
        if one.kind == link.kind and one.is_up and one.speed_mbps
    )
    if sum(speeds.values()) < _LEAST_PEERS:
        return 0
    ((speed_mbps, count),) = speeds.most_common(1)
    return speed_mbps if 2 * count > sum(speeds.values()) else 0


def _device(link: LinkSample) -> str:
    return link.name.partition("/")[0]


def _told(link: LinkSample) -> str:
    counted = ", ".join(f"{name} {count}" for name, count in sorted(link.counters.items()))
    lanes = f" {link.lanes}" if link.lanes else ""
    return f"{link.name} ({link.kind}{lanes}): {counted or 'no errors counted'}"
