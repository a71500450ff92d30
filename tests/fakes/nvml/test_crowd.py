"""Many clients at once on a node in trouble: none crashes or hangs, and they agree."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

PATIENCE_S = 60.0


class Crowd:
    """So many processes of ``crowd.c`` on one node."""

    def __init__(self, program: Path, library: Path, count: int) -> None:
        self._clients = [
            subprocess.Popen(
                [program, library], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for _ in range(count)
        ]
        for client in self._clients:
            assert client.stdout is not None
            assert client.stdout.readline() == "ready\n"

    def end(self) -> list[list[str]]:
        """Let them end; what each has printed."""
        printed = [client.communicate(timeout=PATIENCE_S)[0] for client in self._clients]
        assert [client.returncode for client in self._clients] == [0] * len(printed), printed
        return [text.splitlines() for text in printed]

    def kill(self) -> None:
        """End those that are left."""
        for client in self._clients:
            client.kill()
            client.communicate()


@pytest.mark.parametrize(
    ("clients", "seconds"),
    [
        pytest.param(16, 20, id="16 clients for 20 s"),
        pytest.param(64, 300, id="64 clients for 5 minutes", marks=pytest.mark.long),
    ],
)
def test_clients_agree_while_gpus_break_and_heal(
    start: Callable, compiled: Callable[[str], Path], folder: Path, clients: int, seconds: int
) -> None:
    """Whoever reads all GPUs within one generation reads what every other client reads in it; and
    each client is told every Xid once, in the order in which they came.
    """
    simulator = start(folder / "node", "node_simulator.py", "16")
    crowd = Crowd(compiled("crowd"), simulator.library, clients)
    try:
        simulator.tell(f"trouble {seconds} 1")
        raised = simulator.tell("events")
        printed = crowd.end()
    finally:
        crowd.kill()
    moments: dict[str, set[str]] = {}
    shared = 0
    for lines in printed:
        *read, told = lines
        assert told == f"told {raised}"
        for _, generation, hashed in map(str.split, read):
            known = moments.setdefault(generation, set())
            shared += bool(known)
            known.add(hashed)
    assert not [generation for generation, hashes in moments.items() if len(hashes) > 1]
    assert len(moments) > 10 * seconds
    assert shared > 10 * seconds
    assert len(raised.split(",")) > seconds
    assert simulator.tell("sets") == "0"
