"""``ping``: whether another node answers, and how soon (iputils 20221126)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TextIO

from fakes.clock import SECOND_US
from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.hardware.noise import mix, seed_of
from fakes.nccl.job import leaving_by, outcome_of_reaching
from fakes.network.hosts import HOSTS, is_loopback, resolve
from fakes.node import Node
from fakes.world import World

_FLAGS = {"q": "quiet", "n": "numeric", "4": "four", "6": "six", "D": "stamps", "A": "adaptive"}
_VALUES = {
    "c": "count", "W": "timeout", "w": "deadline", "i": "interval", "s": "size", "I": "interface",
    "t": "ttl", "M": "mtu",
}  # fmt: skip
_NEAR_US, _AWAY_US = 30, 180
_MOST = 100_000


@command("ping", latency_us=2_000)
def main(
    argv: Sequence[str],
    node: Node,
    world: World,
    pause: Callable[[int], None],
    out: TextIO,
    err: TextIO,
) -> int:
    """Send packets; 0 if any came back, 1 if none did, 2 where there is no such name."""
    try:
        options, words = parse(argv, _FLAGS, _VALUES)
    except UnknownOptionError as unknown:
        err.write(f"ping: {unknown}\n")
        return NOT_UNDERSTOOD
    if len(words) != 1 or "six" in options:
        err.write(f"ping: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    name = words[0]
    addresses = resolve(node.files.read(HOSTS) or "", name)
    if not addresses:
        err.write(f"ping: {name}: Name or service not known\n")
        return 2
    address, size = addresses[0], int(options.get("size", "56"))
    told = _Told(name, address, out, quiet="quiet" in options)
    out.write(f"PING {name} ({address}) {size}({size + 28}) bytes of data.\n")
    interval_us = round(float(options.get("interval", "1")) * SECOND_US)
    timeout_us = round(float(options.get("timeout", "10")) * SECOND_US)
    count = int(options["count"]) if "count" in options else _MOST
    ends_us = world.now_us + round(float(options.get("deadline", "1e9")) * SECOND_US)
    began_us = world.now_us
    for sequence in range(1, count + 1):
        if world.now_us >= ends_us:
            break
        rtt_us = _round_trip_us(world, node, address, sequence)
        if isinstance(rtt_us, int):
            pause(rtt_us)
        told.packet(sequence, rtt_us, node)
        if sequence < count:
            pause(min(interval_us, max(ends_us - world.now_us, 0)))
        elif not isinstance(rtt_us, int):
            pause(min(timeout_us, max(ends_us - world.now_us, 0)))
    return told.summary((world.now_us - began_us) // 1000)


def _round_trip_us(world: World, here: Node, address: str, sequence: int) -> int | str:
    """How long a packet takes there and back, or why none comes back."""
    if is_loopback(address) or here.network.owner_of(address) is not None:
        return _NEAR_US
    there = next(
        (one for one in world.nodes.values() if one.network.owner_of(address) is not None), None
    )
    way = leaving_by(here, address)
    if there is None or way is None:
        return "Destination Host Unreachable"
    why = outcome_of_reaching(here, way, there, address)
    if why == "No route to host":
        return "Destination Host Unreachable"
    if why is not None:
        return ""
    troubles = (here.network.trouble, there.network.trouble)
    lucky = mix(seed_of(world.seed, here.name, address), world.now_us + sequence) / 2**64
    kept = (1 - troubles[0].loss) * (1 - troubles[1].loss)
    if lucky >= kept:
        return ""
    return _AWAY_US + 2 * sum(trouble.latency_us for trouble in troubles)


class _Told:
    """What has been printed, and what came back."""

    def __init__(self, name: str, address: str, out: TextIO, *, quiet: bool) -> None:
        self._name, self._address, self._out, self._quiet = name, address, out, quiet
        self._times_us: list[int] = []
        self._sent = self._errors = 0

    def packet(self, sequence: int, rtt_us: int | str, here: Node) -> None:
        """One packet, and its answer, or none."""
        self._sent += 1
        if isinstance(rtt_us, int):
            self._times_us.append(rtt_us)
            line = (
                f"64 bytes from {self._name} ({self._address}): icmp_seq={sequence} ttl=64 "
                f"time={rtt_us / 1000:.3g} ms"
            )
        elif rtt_us:
            self._errors += 1
            line = f"From {here.address} icmp_seq={sequence} {rtt_us}"
        else:
            return
        if not self._quiet:
            self._out.write(f"{line}\n")

    def summary(self, took_ms: int) -> int:
        """The last lines; the exit status."""
        received, times = len(self._times_us), self._times_us
        errors = f", +{self._errors} errors" if self._errors else ""
        lost = 100 - 100 * received // max(self._sent, 1)
        self._out.write(
            f"\n--- {self._name} ping statistics ---\n{self._sent} packets transmitted, {received} "
            f"received{errors}, {lost}% packet loss, time {took_ms}ms\n"
        )
        if times:
            mean = sum(times) / received
            spread = (sum((one - mean) ** 2 for one in times) / received) ** 0.5
            numbers = (min(times), mean, max(times), spread)
            told = "/".join(f"{number / 1000:.3f}" for number in numbers)
            self._out.write(f"rtt min/avg/max/mdev = {told} ms\n")
        return 0 if times else 1
