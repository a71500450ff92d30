"""Memory errors: ECC counters, retired pages, remapped rows."""

from __future__ import annotations

from collections.abc import Callable

from fakes.commands.nvidia_smi.field import Field, field
from fakes.commands.nvidia_smi.reading import Gpu
from fakes.commands.nvidia_smi.words import Read, enabled, field_value, part, said, yes

_CORRECTED, _UNCORRECTED = 0, 1
_VOLATILE, _AGGREGATE = 0, 1
_KINDS = (("corrected", _CORRECTED), ("uncorrected", _UNCORRECTED))
_SPANS = (("volatile", _VOLATILE), ("aggregate", _AGGREGATE))
_PLACES = (
    ("device_memory", 2),
    ("dram", 2),
    ("register_file", 3),
    ("l1_cache", 0),
    ("l2_cache", 1),
    ("texture_memory", 4),
    ("cbu", 6),
    ("sram", 7),
)
_SRAM = (
    ("volatile.sram.parity", "volatileUncParity"),
    ("volatile.sram.secded", "volatileUncSecDed"),
    ("aggregate.sram.parity", "aggregateUncParity"),
    ("aggregate.sram.secded", "aggregateUncSecDed"),
    ("aggregate.sram.thresholdExceeded", "bThresholdExceeded"),
    ("aggregate.sram.l2", "aggregateUncBucketL2"),
    ("aggregate.sram.sm", "aggregateUncBucketSm"),
    ("aggregate.sram.mcu", "aggregateUncBucketMcu"),
    ("aggregate.sram.pcie", "aggregateUncBucketPcie"),
    ("aggregate.sram.other", "aggregateUncBucketOther"),
)
_BY_SINGLE_BITS, _BY_DOUBLE_BIT = 0, 1
_INACTIVE_CORRECTABLE, _INACTIVE_UNCORRECTABLE = 301, 302


def _sram(member: str) -> Read:
    """A member of what is told of the on-chip memories."""

    def read(gpu: Gpu) -> str:
        status = gpu.filled("nvmlDeviceGetSramEccErrorStatus", "c_nvmlEccSramErrorStatus_v1_t")
        value = getattr(status, member)
        return yes(value) if member == "bThresholdExceeded" else str(value)

    return read


def _retired(cause: int) -> Read:
    return lambda gpu: str(len(gpu.get("nvmlDeviceGetRetiredPages", cause)))


COUNTERS: tuple[Field[Gpu], ...] = tuple(
    field(
        f"ecc.errors.{kind}.{span}.{place}",
        read=read,
        about=f"Errors {kind} in {place}.",
    )
    for kind, kind_code in _KINDS
    for span, span_code in _SPANS
    for place, read in (
        *(
            (place, said("nvmlDeviceGetMemoryErrorCounter", kind_code, span_code, location))
            for place, location in _PLACES
        ),
        ("total", said("nvmlDeviceGetTotalEccErrors", kind_code, span_code)),
    )
)


def _rows(worded: Callable[[int], str]) -> tuple[Field[Gpu], ...]:
    """Remapped rows; ``worded`` is how two facts that hold or do not are shown."""
    return (
        field(
            "remapped_rows.correctable",
            "remapped_rows.sbe",
            read=part("nvmlDeviceGetRemappedRows", 0),
            about="Rows replaced because of correctable errors.",
        ),
        field(
            "remapped_rows.correctable_inactive",
            read=field_value(_INACTIVE_CORRECTABLE),
            about="Of those, the ones not in force.",
        ),
        field(
            "remapped_rows.uncorrectable",
            "remapped_rows.dbe",
            read=part("nvmlDeviceGetRemappedRows", 1),
            about="Rows replaced because of an uncorrectable error.",
        ),
        field(
            "remapped_rows.uncorrectable_inactive",
            read=field_value(_INACTIVE_UNCORRECTABLE),
            about="Of those, the ones not in force.",
        ),
        field(
            "remapped_rows.pending",
            read=part("nvmlDeviceGetRemappedRows", 2, by=worded),
            about="Whether a row waits to be replaced at the next reset.",
        ),
        field(
            "remapped_rows.failure",
            read=part("nvmlDeviceGetRemappedRows", 3, by=worded),
            about="Whether a row could ever not be replaced.",
        ),
        *(
            field(
                f"remapped_rows.histogram.{spare}",
                read=part("nvmlDeviceGetRowRemapperHistogram", spare),
                about="Banks by how many spare rows they have left.",
            )
            for spare in ("max", "high", "partial", "low", "none")
        ),
    )


ROWS_IN_NUMBERS = _rows(str)
"""For ``--query-remapped-rows``, which says 1 and 0, as public checks count."""
_ROWS_IN_WORDS = _rows(yes)
"""For ``--query-gpu`` and ``-q``, which say Yes and No (captures of driver 590)."""

FIELDS: tuple[Field[Gpu], ...] = (
    *(
        field(
            f"ecc.mode.{when}",
            read=part("nvmlDeviceGetEccMode", which, by=enabled),
            about="Whether ECC is on.",
        )
        for which, when in enumerate(("current", "pending"))
    ),
    *COUNTERS,
    *(
        field(f"ecc.errors.uncorrected.{name}", read=_sram(member), about="On-chip memories.")
        for name, member in _SRAM
    ),
    field(
        "retired_pages.single_bit_ecc.count",
        "retired_pages.sbe",
        read=_retired(_BY_SINGLE_BITS),
        about="Pages retired because of many correctable errors.",
    ),
    field(
        "retired_pages.double_bit.count",
        "retired_pages.dbe",
        read=_retired(_BY_DOUBLE_BIT),
        about="Pages retired because of an uncorrectable error.",
    ),
    field(
        "retired_pages.pending",
        read=said("nvmlDeviceGetRetiredPagesPendingStatus", by=yes),
        about="Whether a page waits to be retired at the next reboot.",
    ),
    *_ROWS_IN_WORDS,
)
