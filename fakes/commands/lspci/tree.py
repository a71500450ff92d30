"""``-t``: which device is behind which bridge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fakes.pci.tree import PciDevice


def tree(devices: Sequence[PciDevice], *, names: bool) -> Iterator[str]:
    """A line for each device, root buses from the highest down; ``names`` adds what each is."""
    behind = {device.below for device in devices if device.below is not None}
    buses: dict[tuple[str, int], list[PciDevice]] = {}
    for device in devices:
        buses.setdefault((device.address[:4], device.bus), []).append(device)
    roots = sorted((key for key in buses if key[1] not in behind), reverse=True)
    for at, root in enumerate(roots):
        last = at == len(roots) - 1
        start = "-" if at == 0 else " "
        knot = "-" if len(roots) == 1 else "+" if at == 0 or not last else "\\"
        head = f"{start}{knot}-[{root[0]}:{root[1]:02x}]-"
        below = " " * (len(head) - 1) if last else f" |{' ' * (len(head) - 3)}"
        yield from _bus(buses, buses[root], head, below, names=names)


def _bus(
    buses: dict[tuple[str, int], list[PciDevice]], members: Sequence[PciDevice], head: str,
    rest: str, *, names: bool,
) -> Iterator[str]:  # fmt: skip
    for at, device in enumerate(members):
        last = at == len(members) - 1
        if len(members) == 1:
            start = f"{head}--"
        elif at == 0:
            start = f"{head}+-"
        else:
            start = f"{rest} {chr(92) if last else '+'}-"
        slot = device.address[8:]
        more = f"{rest} {' ' if last else '|'} "
        if device.below is None:
            told = f"  {device.vendor_name} {device.name}" if names else ""
            yield f"{start}{slot}{told}"
            continue
        key = device.address[:4], device.below
        inner = f"{start}{slot}-[{device.below:02x}]--"
        yield from _bus(buses, buses.get(key, []), inner, f"{more}{' ' * 10}", names=names)
