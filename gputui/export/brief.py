"""``--once --brief``: one line a node, to be put side by side by pdsh and the like."""

from __future__ import annotations

from gputui.age import age
from gputui.export import around
from gputui.export.words import cause_words, gib, watts
from gputui.model import Severity, Snapshot


def write(snapshot: Snapshot) -> str:
    """The host, the worst there is and what to do about it, or how busy it is when all is well."""
    sample = snapshot.sample
    if sample.error is not None:
        return f"{sample.host}  UNREADABLE  {sample.error}\n"
    roots = [one for one in snapshot.incidents if one.parent is None]
    grave = [one for one in roots if one.severity >= Severity.WARNING]
    if not grave:
        return f"{sample.host}  ok  {_load(snapshot)}\n"
    worst = grave[0]
    whom = worst.subject if worst.gpu is None else f"GPU {worst.gpu}"
    more = f"  (+{len(grave) - 1} more)" if len(grave) > 1 else ""
    why = cause_words(worst, sample.time_s)
    return (
        f"{sample.host}  {worst.severity.word.upper()}  {worst.kind} {whom} "
        f"{age(sample.time_s - worst.opened_s)}  {why}  > {worst.action_text}{more}\n"
    )


def _load(snapshot: Snapshot) -> str:
    gpus = snapshot.sample.gpus
    busy = [gpu.utilization_percent for gpu in gpus if gpu.utilization_percent is not None]
    used = sum(gpu.memory_used_bytes or 0 for gpu in gpus)
    total = sum(gpu.memory_total_bytes or 0 for gpu in gpus)
    power = sum(gpu.power_mw or 0 for gpu in gpus)
    mean = f"{sum(busy) / len(busy):.0f}%" if busy else "?"
    load = f"{len(gpus)} GPUs  {mean}  {gib(used)}/{gib(total)} GiB  {watts(power)} W"
    return "  ".join(part for part in (load, around.short(snapshot.sample)) if part)
