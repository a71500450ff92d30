"""What can be asked of a GPU by ``--query-gpu``: names as the real tool's help lists them.

Sources of names, units and the look of values: the help texts and outputs of drivers 590 and 595.
``-q`` prints the same values under other labels.
"""

from __future__ import annotations

from collections.abc import Mapping

from fakes.commands.nvidia_smi.field import Field
from fakes.commands.nvidia_smi.fields import (
    clocks,
    ecc,
    fabric,
    identity,
    memory,
    pcie,
    power,
    state,
)
from fakes.commands.nvidia_smi.reading import Gpu

FIELDS: tuple[Field[Gpu], ...] = (
    *identity.SYSTEM,
    *identity.NAMES,
    *pcie.FIELDS,
    *state.MODES,
    *state.VERSIONS,
    *clocks.REASONS,
    *memory.FIELDS,
    *ecc.FIELDS,
    *power.FIELDS,
    *clocks.FIELDS,
    *state.LATE_MODES,
    *memory.PROTECTED,
    *fabric.FIELDS,
)
"""All fields, in the order of the help."""

BY_NAME: Mapping[str, Field[Gpu]] = {name: field for field in FIELDS for name in field.names}
