"""Checks as sites write them, on a healthy node and on sick ones: exit status and decisive line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpuchaos_pytest.node import GpuNode

CHECKS = Path(__file__).with_name("site_checks")
FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "rows wait": ("remap", {"gpu": 4, "pending": 1}),
    "rows failed": ("remap", {"gpu": 4, "failed": 1}),
    "memory failed": ("ecc", {"gpu": 2, "uncorrectable": "dram"}),
    "narrow link": ("pcie", {"gpu": 5, "width": 8}),
    "port down": ("nic", {"node": "n0", "nic": "ib2", "down": "true"}),
    "no manager": ("service", {"node": "n0", "stop": "nvidia-fabricmanager"}),
    "lost": ("lost", {"gpu": 3}),
}
HEALTHY = {
    "memory.sh": (0, "OK: 8 GPUs"),
    "lanes.sh": (0, "8 GPUs, 4 switches"),
    "ports.sh": (0, ""),
    "versions.py": (0, "fit"),
    "epilog.sh": (0, ""),
}
SICK: dict[str, dict[str, tuple[int, str]]] = {
    "rows wait": {"memory.sh": (2, "CRITICAL: 00000000:9D:00.0 waits for a reset")},
    "rows failed": {"memory.sh": (2, "CRITICAL: 00000000:9D:00.0 has no spare rows")},
    "memory failed": {"memory.sh": (2, "CRITICAL: 00000000:52:00.0 waits for a reset")},
    "narrow link": {"lanes.sh": (1, "7 GPUs, 4 switches")},
    "port down": {"ports.sh": (1, "mlx5_2: DOWN at 10")},
    "no manager": {"versions.py": (1, "no fabric manager")},
    "lost": {
        "memory.sh": (3, "UNKNOWN: no rows (255)"),
        "lanes.sh": (1, "7 GPUs, 4 switches"),
        "versions.py": (1, "8 GPUs on the bus, 7 listed"),
    },
}


@pytest.fixture
def node() -> Iterator[GpuNode]:
    with GpuNode() as node:
        yield node


@pytest.mark.parametrize("state", ["healthy", *FAULTS])
def test_a_check_says_what_it_would_say_on_hardware(state: str, node: GpuNode) -> None:
    """Each finds the faults that it looks for, passes on all others, and is understood."""
    if state != "healthy":
        fault, arguments = FAULTS[state]
        node.inject(fault, **arguments)
        node.advance("30s")
    expected = HEALTHY | SICK.get(state, {})
    for name, (status, line) in expected.items():
        done = node.run(f"./{name}", folder=CHECKS)
        assert done.exit == status, (name, done.output)
        assert line in done.output, (name, done.output)
        assert not done.unknown, name
