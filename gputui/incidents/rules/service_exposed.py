"""A service on a GPU that anybody on the network can reach."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.rule import INFO, WARNING, Finding, Subject, rule, samples
from gputui.model import Action, NodeSample
from gputui.services import RUNS_CODE, SERVICES


@rule(kind="ServiceExposed", severity=INFO, holds=samples(1), clears=samples(1))
def service_exposed(now: NodeSample, past: History) -> Iterator[Finding]:
    """A process on a GPU listens on more than the loopback, on the port of a known service.

    Other ports are the rendezvous of training jobs, which all of them open. Nobody is connected
    to, so that TLS may be spoken there: ``gputui doctor`` tries. A warning for what runs whatever
    code it is sent, information else.
    """
    gpus = {gpu.index: gpu for gpu in now.gpus}
    owners = {process.pid: process for process in now.processes if process.gpu in gpus}
    told = set()
    for one in now.listeners:
        process, service = owners.get(one.pid), SERVICES.get(one.port)
        if process is None or service is None or one.port in told:
            continue
        told.add(one.port)
        yield Finding(
            Subject.of_gpu(gpus[process.gpu]),
            cause="no-tls",
            cause_text=f"port {one.port} ({service}) is open to other machines",
            action=Action.CHECK_CONFIG,
            action_text="let it listen on 127.0.0.1, reach it by "
            f"ssh -L {one.port}:localhost:{one.port} (gputui doctor tells whether it speaks TLS)",
            evidence=(f"pid {one.pid} on {one.address}:{one.port}: {process.command or '?'}",),
            key=str(one.port),
            severity=WARNING if one.port in RUNS_CODE else INFO,
        )
