"""A job whose ranks do not come together: names, interfaces, ports, versions, GPUs, memory."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_tries import failed_try, is_only_trying
from gputui.incidents.job_words import (
    QUIET,
    advice_of,
    decides,
    is_outdone,
    job_finding,
    meaning_of,
    told,
)
from gputui.incidents.rule import INFO, WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent
from gputui.logs.text_facts import Role, TextFact, text_fact
from gputui.model import Action

_LOOPBACK = re.compile(r"^(?:127\.|localhost\b|::1\b|\[::1\])")
_NOT_BETWEEN_NODES = re.compile(r"^(?:172\.17\.|169\.254\.|fe80:|192\.168\.122\.)")
"""Docker's bridge, link-local addresses, libvirt's bridge: no other node is reached there."""

_UNREACHABLE = (
    "No route to host", "Network is unreachable", "Software caused connection abort",
    "Host is down",
)  # fmt: skip
"""What the kernel says when no way leads to the peer, or the one there was is gone."""

_NOT_FROM_HERE = ("Cannot assign requested address", "Invalid argument")
"""What the kernel says when the chosen interface cannot reach the peer's kind of address."""

_GLOO = "gloo_mesh"
_ADDRESS = re.compile(r"<\d+>$")
"""The port, as NCCL writes it after an address."""

_ACTIONS = {
    "hosts-loopback": Action.CHECK_CONFIG,
    "interface-wrong": Action.CHECK_CONFIG,
    "network": Action.CHECK_NETWORK,
}

_IDLE_INTERFACES = re.compile(r"^(?:lo|docker|virbr|veth|br-|cni|flannel)")


@job_rule(kind="NcclInitFailed", severity=WARNING, clears=QUIET)
def nccl_init_failed(event: JobEvent, past: History) -> Iterator[Finding]:
    """The text tells the cause, except of a peer that cannot be reached.

    An address of this machine itself stands in /etc/hosts where the node's name should have its
    own; one of a bridge is the wrong interface; the kernel's word that there is no way is the
    network; else nobody listens there, or a firewall is between. A rank that only tries again is
    news, until NCCL fails after it: then the last try tells why.
    """
    event = failed_try(event, past) or event
    fact = told(event, "NcclInitFailed")
    if fact is None or not decides(event, fact, past):
        return

    def is_mild(said: JobEvent) -> bool:
        known = text_fact(said.pattern)
        return is_only_trying(said, past) or (known is not None and known.role is Role.HINT)

    if is_outdone(event, fact, past, is_mild):
        return
    cause, text, advice = _blame(event, fact, past)
    yield job_finding(
        event,
        fact,
        past,
        cause=cause,
        cause_text=text,
        action=_ACTIONS.get(cause) if cause != fact.cause else None,
        action_text=advice,
        severity=INFO if is_mild(event) else None,
    )


def _blame(event: JobEvent, fact: TextFact, past: History) -> tuple[str, str, str]:
    text = meaning_of(fact, event)
    interface = _interface(event, past)
    advice = advice_of(fact, event, **({"interface": interface} if interface else {}))
    if (fact.cause != "port" and fact.id != _GLOO) or fact.id == "addr_inuse":
        return fact.cause, text, advice
    peer = event.field("peer") or event.field("host") or ""
    why = event.field("why") or ""
    variable = "GLOO_SOCKET_IFNAME" if fact.id == _GLOO else "NCCL_SOCKET_IFNAME"
    if _LOOPBACK.match(peer) or _uses_loopback(event, past):
        where = peer or "a loopback address"
        return (
            "hosts-loopback",
            f"the ranks were told {where}, which is each node itself",
            "give the node's name its own address in /etc/hosts (not 127.0.1.1) on every node: "
            f"getent hosts $(hostname); or export {variable}={interface or 'eth0'}",
        )
    if _NOT_BETWEEN_NODES.match(peer) or why.startswith(_NOT_FROM_HERE):
        return (
            "interface-wrong",
            text,
            f"export {variable}={interface or 'eth0'} (ip -br addr: one that every node "
            "has, in one subnet)",
        )
    if why.startswith(_UNREACHABLE):
        return (
            "network",
            text,
            f"ping {_ADDRESS.sub('', peer) or 'HOST'} from this node; ip route get it; if another "
            f"interface leads there: export {variable}={interface or 'eth0'}",
        )
    return fact.cause, text, advice


def _interface(event: JobEvent, past: History) -> str | None:
    """The interface that another rank of the job has chosen, if it may lead between nodes."""
    for other in past.job_said(event.job, "nccl_using"):
        name = other.field("interface")
        if name is not None and not _IDLE_INTERFACES.match(name):
            return name
    return None


def _uses_loopback(event: JobEvent, past: History) -> bool:
    """Whether the host that says it has chosen its loopback for NCCL."""
    chosen = [
        other.field("address") or ""
        for other in past.job_said(event.job, "nccl_using")
        if other.host == event.host
    ]
    return bool(chosen) and all(_LOOPBACK.match(address) for address in chosen)
