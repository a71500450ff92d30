"""nvidia-smi's arguments: what is asked for, of which GPUs, and in which form.

An option takes its value after ``=`` or as the next argument, whatever its length. What the real
command knows and this one does not imitate is told apart from what no nvidia-smi knows: the first
is :class:`NotImitated`, the second is answered as the real command answers it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

_HELP = "Please run 'nvidia-smi -h' for help."
_DEFAULT_LOOP_S = 5


class Usage(Exception):  # noqa: N818
    """Arguments that the real command refuses; the message is what it prints, on stdout."""


class NotImitated(Exception):  # noqa: N818
    """An option or a sub-command that the real command has, and this one does not."""


class Takes(Enum):
    """Whether an option has a value."""

    NOTHING = auto()
    VALUE = auto()
    MAYBE = auto()


@dataclass(frozen=True, slots=True)
class Format:
    """How a selective query is printed (``--format=``)."""

    header: bool = True
    units: bool = True


@dataclass(frozen=True, slots=True)
class Options:
    """One call's arguments, understood.

    ``verb`` is what to do, by its long name (``summary`` without one), ``value`` what it is given.
    ``ids`` are indices, UUIDs, serial numbers or PCI addresses; none means all GPUs. ``loop_us`` is
    the time between two answers, 0 for one answer; ``filename`` is where to write instead of to
    standard output.
    """

    verb: str = "summary"
    value: str = ""
    ids: tuple[str, ...] = ()
    form: Format | None = None
    sections: tuple[str, ...] = ()
    loop_us: int = 0
    strict: bool = False
    xml: bool = False
    filename: str = ""


_VERBS: dict[str, tuple[tuple[str, ...], Takes]] = {
    "help": (("-h", "--help"), Takes.NOTHING),
    "version": (("--version",), Takes.NOTHING),
    "list-gpus": (("-L", "--list-gpus"), Takes.NOTHING),
    "query": (("-q", "-a", "--query"), Takes.NOTHING),
    "query-gpu": (("--query-gpu",), Takes.VALUE),
    "query-compute-apps": (("--query-compute-apps",), Takes.VALUE),
    "query-accounted-apps": (("--query-accounted-apps",), Takes.VALUE),
    "query-retired-pages": (("--query-retired-pages",), Takes.VALUE),
    "query-remapped-rows": (("--query-remapped-rows",), Takes.VALUE),
    "query-supported-clocks": (("--query-supported-clocks",), Takes.VALUE),
    "help-query-gpu": (("--help-query-gpu",), Takes.NOTHING),
    "help-query-compute-apps": (("--help-query-compute-apps",), Takes.NOTHING),
    "help-query-accounted-apps": (("--help-query-accounted-apps",), Takes.NOTHING),
    "help-query-retired-pages": (("--help-query-retired-pages",), Takes.NOTHING),
    "help-query-remapped-rows": (("--help-query-remapped-rows",), Takes.NOTHING),
    "help-query-supported-clocks": (("--help-query-supported-clocks",), Takes.NOTHING),
    "persistence-mode": (("-pm", "--persistence-mode"), Takes.VALUE),
    "power-limit": (("-pl", "--power-limit"), Takes.VALUE),
    "lock-gpu-clocks": (("-lgc", "--lock-gpu-clocks"), Takes.VALUE),
    "reset-gpu-clocks": (("-rgc", "--reset-gpu-clocks"), Takes.NOTHING),
    "lock-memory-clocks": (("-lmc", "--lock-memory-clocks"), Takes.VALUE),
    "reset-memory-clocks": (("-rmc", "--reset-memory-clocks"), Takes.NOTHING),
    "applications-clocks": (("-ac", "--applications-clocks"), Takes.VALUE),
    "reset-applications-clocks": (("-rac", "--reset-applications-clocks"), Takes.NOTHING),
    "applications-clocks-permission": (
        ("-acp", "--applications-clocks-permission"),
        Takes.VALUE,
    ),
    "auto-boost-default": (("--auto-boost-default",), Takes.VALUE),
    "auto-boost-permission": (("--auto-boost-permission",), Takes.VALUE),
    "ecc-config": (("-e", "--ecc-config"), Takes.VALUE),
    "reset-ecc-errors": (("-p", "--reset-ecc-errors"), Takes.VALUE),
    "compute-mode": (("-c", "--compute-mode"), Takes.VALUE),
    "accounting-mode": (("-am", "--accounting-mode"), Takes.VALUE),
    "clear-accounted-apps": (("-caa", "--clear-accounted-apps"), Takes.NOTHING),
    "multi-instance-gpu": (("-mig", "--multi-instance-gpu"), Takes.VALUE),
    "gom": (("--gom",), Takes.VALUE),
    "gpu-target-temp": (("-gtt", "--gpu-target-temp"), Takes.VALUE),
    "gpu-reset": (("-r", "--gpu-reset"), Takes.MAYBE),
}
_MODIFIERS: dict[str, tuple[tuple[str, ...], Takes]] = {
    "id": (("-i", "--id", "--gpu"), Takes.VALUE),
    "filename": (("-f", "--filename"), Takes.VALUE),
    "xml-format": (("-x", "--xml-format"), Takes.NOTHING),
    "mode": (("-m", "--mode"), Takes.VALUE),
    "scope": (("-sc", "--scope"), Takes.VALUE),
    "format": (("--format",), Takes.VALUE),
    "display": (("-d", "--display"), Takes.VALUE),
    "loop": (("-l", "--loop"), Takes.MAYBE),
    "loop-ms": (("-lms", "--loop-ms"), Takes.VALUE),
    "error-on-warning": (("-eow", "--error-on-warning"), Takes.NOTHING),
}
_USUAL = {"mode": ("0",), "scope": ("0", "GPU")}
"""Values of options that ask for what is done without them."""
_FLAGS = {
    flag: (name, takes) for name, (flags, takes) in (_VERBS | _MODIFIERS).items() for flag in flags
}
_KNOWN_ELSEWHERE = """
-B --list-excluded-gpus -col --columns -u --unit --dtd -vm --virt-mode
-lmcd --lock-memory-clocks-deferred -rmcd --reset-memory-clocks-deferred -cc --cuda-clocks
-den --dram-encryption --set-hostname --get-hostname -t --toggle-led --debug
daemon replay encodersessions fbcsessions compute-policy boost-slider power-hint base-clocks
c2c gpm pci power-smoothing power-profiles rusd prm soc
"""
_NOT_IMITATED = frozenset(_KNOWN_ELSEWHERE.split())


def parse(argv: Sequence[str]) -> Options:
    """Understand the arguments. ``Usage`` and ``NotImitated`` say what cannot be."""
    options = Options()
    for name, value in _pairs(argv):
        if name in _VERBS:
            if options.verb != "summary":
                raise Usage(f"Invalid combination of input arguments. {_HELP}")
            options = replace(options, verb=name, value=value)
        else:
            options = _modified(options, name, value)
    _check(options)
    return options


def _pairs(argv: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options' long names, each with its value."""
    waiting = list(reversed(argv))
    while waiting:
        argument = waiting.pop()
        flag, equals, value = argument.partition("=")
        if flag in _NOT_IMITATED:
            raise NotImitated(flag)
        if flag not in _FLAGS:
            raise Usage(f"ERROR: Option {argument} is not recognized. {_HELP}")
        name, takes = _FLAGS[flag]
        if takes is Takes.NOTHING and equals:
            raise Usage(f"ERROR: Option {argument} is not recognized. {_HELP}")
        if takes is Takes.VALUE and not equals:
            if not waiting:
                raise Usage(f"Invalid combination of input arguments. {_HELP}")
            value = waiting.pop()
        if takes is Takes.MAYBE and not equals and waiting and not waiting[-1].startswith("-"):
            value = waiting.pop()
        yield name, value


def _modified(options: Options, name: str, value: str) -> Options:
    if name == "id":
        return replace(options, ids=tuple(part.strip() for part in value.split(",")))
    if name == "format":
        return replace(options, form=_format(value))
    if name == "display":
        return replace(options, sections=tuple(part.strip() for part in value.split(",")))
    if name == "filename":
        return replace(options, filename=value)
    if name == "xml-format":
        return replace(options, xml=True)
    if name in ("mode", "scope"):
        if value.upper() not in _USUAL[name]:
            raise NotImitated(f"--{name}={value}")
        return options
    if name == "loop":
        return replace(options, loop_us=_count(value or str(_DEFAULT_LOOP_S)) * 1_000_000)
    if name == "loop-ms":
        return replace(options, loop_us=_count(value) * 1000)
    return replace(options, strict=True)


def _format(value: str) -> Format:
    words = {word.strip() for word in value.split(",")}
    if "csv" not in words or words - {"csv", "noheader", "nounits"}:
        raise Usage(f"Invalid combination of input arguments. {_HELP}")
    return Format(header="noheader" not in words, units="nounits" not in words)


def _count(value: str) -> int:
    if not value.isdecimal() or int(value) == 0:
        raise Usage(f"Invalid combination of input arguments. {_HELP}")
    return int(value)


def _check(options: Options) -> None:
    selective = options.verb.startswith("query-")
    if selective and options.form is None:
        raise Usage(f'"--format=" switch is missing. {_HELP}')
    report = options.verb == "query"
    out_of_place = (
        (options.form and not selective)
        or (options.sections and (not report or options.xml))
        or (options.xml and not report)
    )
    if out_of_place:
        raise Usage(f"Invalid combination of input arguments. {_HELP}")
    if options.verb == "gpu-reset" and options.value not in ("", "bus"):
        raise NotImitated(f"-r {options.value}")
