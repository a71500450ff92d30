"""``drain``: taking a GPU out of use before it is taken out. States are told, and not changed."""

from __future__ import annotations

from collections.abc import Sequence

from fakes.commands.nvidia_smi.options import NotImitated, Usage
from fakes.commands.nvidia_smi.session import Session, given

_FLAGS = {
    "-q": "query", "--query": "query", "-r": "remove", "--remove": "remove",
    "-h": "help", "--help": "help",
}  # fmt: skip
_VALUES = {"-p": "pciid", "--pciid": "pciid", "-m": "modify", "--modify": "modify"}
_HELP = "nvidia-smi drain -p DOMAIN:BUS:DEVICE.FUNCTION -q      whether a GPU is being drained\n"


def run(argv: Sequence[str], session: Session) -> int:
    """Say that nothing is drained."""
    options = given("drain", argv, _FLAGS, _VALUES)
    if not options or "help" in options:
        session.out.write(_HELP)
        return 0
    if "pciid" not in options:
        raise Usage("A PCI ID is required (-p). Please run 'nvidia-smi drain -h'.")
    if set(options) & {"modify", "remove"}:
        raise NotImitated("drain " + " ".join(argv))
    for gpu in session.gpus(options["pciid"]):
        session.out.write(f"The current drain state of GPU {gpu.bus_id} is: not draining.\n")
    return 0
