"""``dcgmi profile``: who uses the profiling counters, DCGM or a profiler."""

from __future__ import annotations

from collections.abc import Sequence

from fakes.commands.dcgmi.engine import Engine, NotImitated, read

_FLAGS = {"--pause": "pause", "--resume": "resume", "-h": "help", "--help": "help"}
_DONE = {"pause": "paused", "resume": "resumed"}


def run(argv: Sequence[str], engine: Engine) -> int:
    """Let DCGM leave them, so that Nsight can have them, or take them again."""
    if {"-l", "--list"} & set(argv):
        raise NotImitated("profile " + " ".join(argv))
    options = read("profile", argv, _FLAGS, {"--host": "host"})
    asked = [name for name in _DONE if name in options]
    if len(asked) != 1:
        engine.out.write("dcgmi profile --pause | --resume [--host HOST]\n")
        return 0
    engine.out.write(f"Successfully {_DONE[asked[0]]} profiling.\n")
    return 0
