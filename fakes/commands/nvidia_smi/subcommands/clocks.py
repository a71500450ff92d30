"""``clocks``: synchronous boost, which GPUs of today do not have."""

from __future__ import annotations

from collections.abc import Sequence

from fakes.commands.nvidia_smi.options import NotImitated
from fakes.commands.nvidia_smi.session import Session, given

_FLAGS = {"-h": "help", "--help": "help", "-s": "sync-boost", "--sync-boost": "sync-boost"}
_HELP = "nvidia-smi clocks -h      nothing to set here: see -lgc, -lmc and -ac\n"


def run(argv: Sequence[str], session: Session) -> int:
    """Tell what there is."""
    options = given("clocks", argv, _FLAGS, {"-i": "id", "--id": "id"})
    if "sync-boost" in options:
        raise NotImitated("clocks " + " ".join(argv))
    session.out.write(_HELP)
    return 0
