"""``mig``: instances of GPUs. There are none here: what lists them says so, none can be made.

Without MIG mode every form has the driver's own answer. With it, what would have to know how a GPU
can be split is not imitated: the profiles, their placements, and making an instance.
"""

from __future__ import annotations

from collections.abc import Sequence

from fakes.commands.nvidia_smi.options import NotImitated
from fakes.commands.nvidia_smi.reading import Gpu, Missing
from fakes.commands.nvidia_smi.selection import status_of
from fakes.commands.nvidia_smi.session import Session, given
from fakes.nvml.codes import Code

_LISTS = {
    "-lgi": "GPU instances", "--list-gpu-instances": "GPU instances",
    "-lci": "compute instances", "--list-compute-instances": "compute instances",
}  # fmt: skip
_DESTROYS = {
    "-dci": "compute instances", "--destroy-compute-instance": "compute instances",
    "-dgi": "GPU instances", "--destroy-gpu-instance": "GPU instances",
}  # fmt: skip
_OTHERS = {
    "-lgip": "", "--list-gpu-instance-profiles": "", "-lgipp": "",
    "--list-gpu-instance-possible-placements": "", "-lcip": "",
    "--list-compute-instance-profiles": "", "-C": "", "--default-compute-instance": "",
    "-cci": "", "--create-compute-instance": "", "-h": "help", "--help": "help",
}  # fmt: skip
_VALUES = {
    "-i": "id", "--id": "id", "-gi": "gi", "--gpu-instance-id": "gi", "-ci": "ci",
    "--compute-instance-id": "ci", "-cgi": "create", "--create-gpu-instance": "create",
}  # fmt: skip
_HELP = """\
nvidia-smi mig [-lgip | -lgi | -lci | -dgi | -dci] [-i ID]

    -lgi, -lci             instances that there are: none
    -dgi, -dci             take instances away
    -lgip, -lgipp, -lcip   profiles and placements: not imitated where MIG mode is on
    -cgi, -cci             make instances: not imitated where MIG mode is on
"""


def run(argv: Sequence[str], session: Session) -> int:
    """Say what there is, which is nothing."""
    flags = {**_LISTS, **_DESTROYS, **_OTHERS}
    options = given("mig", argv, {flag: flag for flag in flags}, _VALUES)
    if not options or set(options) & {"-h", "--help"}:
        session.out.write(_HELP)
        return 0
    gpus = session.gpus(options.get("id", ""))
    if not any(_is_split(gpu) for gpu in gpus):
        session.out.write("No MIG-enabled devices found.\n")
        return status_of(Code.NOT_FOUND)
    for flag, what in _LISTS.items():
        if flag in options:
            why = session.driver.error_text(Code.NOT_FOUND)
            session.out.write(f"No {what} found: {why}\n")
            return status_of(Code.NOT_FOUND)
    for flag, what in _DESTROYS.items():
        if flag in options:
            why = session.driver.error_text(Code.NOT_FOUND)
            session.out.write(f"Unable to destroy {what}: {why}\n")
            session.out.write(f"Failed to destroy {what}: {why}\n")
            return status_of(Code.NOT_FOUND)
    raise NotImitated("mig " + " ".join(argv))


def _is_split(gpu: Gpu) -> bool:
    try:
        return bool(gpu.get("nvmlDeviceGetMigMode")[0])
    except Missing:
        return False
