"""Air that comes into a node too warm, or too cold."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.rule import WARNING, Finding, Subject, after, rule, samples
from gputui.model import Action, NodeSample


@rule(kind="InletOutOfBand", severity=WARNING, holds=samples(3), clears=after(minutes=2))
def inlet_out_of_band(now: NodeSample, past: History) -> Iterator[Finding]:
    """The inlet's sensor against the band: 16 to 27 C unless the config says otherwise.

    27 C is the upper end of what ASHRAE's TC 9.9 recommends for servers, 16 C what data centres
    keep above so that nothing condenses. Where no sensor is told, nothing is known.
    """
    host = now.host_readings
    if host is None or host.inlet_c is None:
        return
    low_c, high_c = past.thresholds.inlet_low_c, past.thresholds.inlet_high_c
    if low_c <= host.inlet_c <= high_c:
        return
    warm = host.inlet_c > high_c
    yield Finding(
        Subject.of_node(now.host),
        cause="room",
        cause_text=f"{host.inlet_c:.0f} C at the inlet, {'above' if warm else 'below'} "
        f"{high_c if warm else low_c:.0f} C",
        action=Action.CHECK_COOLING,
        action_text="check room cooling (ipmitool sdr type Temperature)",
        evidence=(f"inlet {host.inlet_c:.1f} C, band {low_c:.0f} to {high_c:.0f} C",),
    )
