"""What nvidia-smi changes: persistence, the power limit, clocks, modes.

Each setter says what became of every GPU in turn. Where a GPU cannot do it, that is a warning, and
the call goes on and succeeds (``-eow`` makes it an error); anything else that fails ends the call.
Sources of the wording: outputs in public bug reports and guides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn, TextIO

from fakes.commands.nvidia_smi.options import Options
from fakes.commands.nvidia_smi.reading import NOT_HERE, Gpu, Missing
from fakes.commands.nvidia_smi.selection import Ended, status_of
from fakes.commands.nvidia_smi.setters.clocks import CLOCKS
from fakes.commands.nvidia_smi.setters.modes import MODES
from fakes.commands.nvidia_smi.setters.power import POWER
from fakes.commands.nvidia_smi.setters.setter import BadValue, Setter
from fakes.nvml.codes import Code

SETTERS: Mapping[str, Setter] = {**POWER, **CLOCKS, **MODES}
"""By the option's long name."""


def run(options: Options, gpus: Sequence[Gpu], out: TextIO, *, permitted: bool = True) -> int:
    """Set what ``options`` say on every GPU; the exit status. Who may not is told so."""
    setter = SETTERS[options.verb]
    changed = False
    for gpu in gpus:
        try:
            if not permitted:
                raise Missing(Code.NO_PERMISSION)
            said = setter.set(gpu, options.value)
            changed = changed or " already " not in said
        except BadValue as bad:
            _end(str(bad), status_of(Code.INVALID_ARGUMENT), out)
        except Missing as missing:
            said = _refused(setter, gpu, missing.code, options, out)
        if said:
            out.write(f"{said}\n")
    out.write("All done.\n")
    if changed and setter.closing:
        out.write(f"{setter.closing}\n")
    return 0


def _refused(setter: Setter, gpu: Gpu, code: int, options: Options, out: TextIO) -> str:
    """A warning that a GPU cannot do it. Any other refusal ends the call."""
    why = gpu.driver.why(code) if code == Code.DEPRECATED else gpu.driver.error_text(code)
    if code not in NOT_HERE:
        words = setter.refused if code == Code.NO_PERMISSION else setter.failed
        _end(words.format(bus=gpu.bus_id, why=why), status_of(code), out)
    warning = setter.not_supported.format(bus=gpu.bus_id, why=why)
    if options.strict:
        _end(warning, status_of(Code.NOT_SUPPORTED), out)
    return f"{warning}\nTreating as warning and moving on."


def _end(said: str, status: int, out: TextIO) -> NoReturn:
    out.write(f"{said}\nTerminating early due to previous errors.\n")
    raise Ended(status)
