"""The shape of an NVML function: what goes in, what comes out, and by which size rule.

``fakes/nvml/table.py`` holds one :class:`Function` for each exported name; it is generated from the
public header by ``fakes/nvml/shim/generate.py``, together with the C library's own table. Both
carriers are driven by it, so a size rule is written once. Not in the table are the six names that
concern the calling process, not the node: nvmlInit, nvmlInit_v2, nvmlInitWithFlags, nvmlShutdown,
nvmlErrorString and nvmlInternalGetExportTable; each carrier has them by hand.

Rules that hold for every function, in this order, in both carriers:

1. Before the first ``nvmlInit`` and after the last ``nvmlShutdown``: UNINITIALIZED.
2. A handle that is no device's, a pointer that is NULL and not ``optional``: INVALID_ARGUMENT.
3. A first word that is not among ``versions``: ARGUMENT_VERSION_MISMATCH.
4. The answer's own failure: its code, and nothing is written.
5. What does not fit: by the parameter's :class:`Fit`. Nothing beyond the caller's size is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

DEVICE_LIMIT = 4096
"""Device numbers are below this; so many handles exist."""

MIG_FIRST = 1024
"""Device numbers from here on are MIG devices'; those below are the GPUs' indices."""


class Kind(Enum):
    """What a parameter is, as far as a carrier must know.

    An *input* is an element of ``Call.inputs``; an *output* is one of ``Answer.outputs``. Both are
    in the order of the parameters.
    """

    DEVICE = auto()
    """A device's handle, by value. A function's first is ``Call.device``; a second one
    (nvmlDeviceGetP2PStatus) is an input: its device number, an int."""
    DEVICE_OUT = auto()
    """Where a device's handle goes; the output is its number as 8 bytes, little-endian."""
    HANDLE = auto()
    """Another opaque handle, by value (event set, unit, GPU instance ...); an input: an int."""
    U32 = auto()
    """An integer of 4 bytes, by value; an input, unless it is the size of a buffer (that is, the
    ``partner`` of a ``TEXT_OUT``, ``ARRAY`` or ``EACH``). Signed ones come as their 32 bits."""
    U64 = auto()
    """An integer of 8 bytes, by value; an input."""
    TEXT_IN = auto()
    """A NUL-terminated string that the caller passes; an input (bytes, without the NUL)."""
    STRUCT_IN = auto()
    """A structure of ``size`` bytes that the caller passes; an input (bytes). With ``versions`` its
    first word must be one of them, and its size is the version's."""
    OUT = auto()
    """A pointer to ``size`` bytes that the function fills."""
    TEXT_OUT = auto()
    """A buffer for a string; the output is the string without its NUL. The buffer's length is the
    parameter ``partner``: a ``U32``, or a ``COUNT`` which also takes the length that is needed;
    without a partner it is ``size``. Only the string and its NUL are written."""
    COUNT = auto()
    """No input, no output. In: how many records the buffer has room for. Out: how many there are.
    With ``Fit.TRUST`` it only goes out."""
    LIST = auto()
    """A buffer of records of ``size`` bytes each, counted by the ``COUNT`` parameter ``partner``
    (two lists may share one); the output is all the records, joined. A count of 0 asks for the
    count alone; ``optional`` says that NULL does so too, whatever the count. Asking returns
    INSUFFICIENT_SIZE where there are records, or SUCCESS where ``asking_succeeds``."""
    ARRAY = auto()
    """A buffer of elements of ``size`` bytes, as many as the ``U32`` parameter ``partner`` says.
    The output is the elements, joined; what the caller has room for beyond it is filled with the
    32-bit word ``pad``."""
    VERSIONED = auto()
    """A structure filled in place, whose first word must be one of ``versions``. Its size is
    ``version & 0xffffff``, or ``size`` for a bare version (GPM's 1). Its input is a tuple: the
    32-bit words at the byte offsets ``words`` (0 where they lie beyond the version's size); its
    output is the whole structure of that version, the version's word included."""
    VERSIONED_LIST = auto()
    """As ``VERSIONED``, but it carries a list: the word at ``count_at`` is the room and becomes
    the count, the pointer at ``list_at`` leads to records of ``record`` bytes. The output is the
    records, joined; nothing else in the structure changes. The rules are those of ``LIST``
    (``optional`` speaks of the inner pointer)."""
    VERSIONED_EACH = auto()
    """As ``VERSIONED``, ending in an array at ``list_at`` of as many records of ``record`` bytes
    as the word at ``count_at`` says (nvmlGpmMetricsGet). Its input is these bytes, from the
    version to the last record; so is its output. What lies behind is not touched."""
    EACH = auto()
    """Records of ``size`` bytes filled in place, counted by the ``U32`` parameter ``partner``
    (nvmlDeviceGetFieldValues). Its input is the whole buffer, its output the whole buffer. Each
    record is answered for itself, by the 32-bit words at its byte offsets ``words``: the answer to
    a buffer is the answers to its records, joined."""


class Fit(Enum):
    """What becomes of an answer that is longer than the caller's buffer."""

    REFUSE = auto()
    """INSUFFICIENT_SIZE; a ``COUNT`` is set to what is needed."""
    CUT = auto()
    """As much as there is room for, and SUCCESS; a string keeps its NUL."""
    TRUST = auto()
    """The buffer is taken to be large enough: NVML is not told its size."""


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter. Sizes and offsets are bytes; ``partner`` is a parameter's position, or -1.

    ``devices`` are the byte offsets of devices' handles inside an output's record: the answer has
    the device's number there (8 bytes), the carrier puts the handle in its place.
    """

    name: str
    kind: Kind
    size: int = 0
    partner: int = -1
    versions: tuple[int, ...] = ()
    words: tuple[int, ...] = ()
    devices: tuple[int, ...] = ()
    count_at: int = 0
    list_at: int = 0
    record: int = 0
    pad: int = 0
    fit: Fit = Fit.REFUSE
    optional: bool = False
    asking_succeeds: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """One exported name. ``id`` is its position in the table, and its number on the wire.

    ``paged`` functions are pure readings of few inputs, whose answers may lie in the shared page;
    all others go over the socket, each call for itself. ``steady`` ones change only with an event
    in the world (a name, a limit, a mode), not with time alone.
    """

    id: int
    name: str
    params: tuple[Param, ...]
    paged: bool = False
    steady: bool = False


def parse(number: int, row: str, known: dict[str, Param]) -> Function:
    """Read a row of the generated table: ``name flags | name KIND field=value ... | ...``.

    ``known`` keeps the parameters read so far by their text: most occur many times.
    """
    head, *texts = row.split(" | ")
    name, *flags = head.split()
    params = []
    for text in texts:
        param = known.get(text)
        if param is None:
            param = known[text] = _parse_param(text)
        params.append(param)
    return Function(number, name, tuple(params), "paged" in flags, "steady" in flags)


def _parse_param(text: str) -> Param:
    name, kind, *fields = text.split()
    values: dict[str, Any] = {}
    for field in fields:
        key, _, value = field.partition("=")
        if key in ("versions", "words", "devices"):
            values[key] = tuple(int(each, 0) for each in value.split(","))
        elif key == "fit":
            values[key] = Fit[value]
        elif key in ("optional", "asking_succeeds"):
            values[key] = True
        else:
            values[key] = int(value)
    return Param(name, Kind[kind], **values)
