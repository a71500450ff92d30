"""Write the table of NVML's functions, for Python and for C, from the public header.

::

    python -m fakes.nvml.shim.generate [path/to/nvml.h]

Without an argument the header is the one of the installed package ``nvidia-nvml-dev``. Prototypes,
typedefs and structures' members are read from its text; sizes, offsets and version words are what a
C compiler says of it (a small program is compiled and run). Directions come from types, ``const``
and names of parameters; ``overlay.py`` holds the exceptions. The results, ``fakes/nvml/table.py``
and ``fakes/nvml/shim/table.inc``, are checked in.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from fakes.nvml.function import Fit, Function, Kind, Param
from fakes.nvml.shim import overlay
from fakes.nvml.shim.build import compiler

TABLE_PY = Path(__file__).resolve().parents[1] / "table.py"
TABLE_INC = Path(__file__).resolve().with_name("table.inc")

_READS = re.compile(r"^nvml[A-Za-z]*?(Get|Query|Is[A-Z]|OnSame)")
_FILLS = re.compile(r"(Get|Query|Wait|Create|Alloc|Is[A-Z]|OnSame)")
_COUNT = re.compile(r"count$", re.IGNORECASE)
_SIZE = re.compile(r"(length|size)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter as the header declares it."""

    name: str
    type: str
    const: bool
    pointer: bool


@dataclass(frozen=True, slots=True)
class Header:
    """What the text of nvml.h says, comments removed."""

    functions: dict[str, tuple[Declared, ...]]
    members: dict[str, tuple[str, ...]]
    aliases: dict[str, str]
    opaque: frozenset[str]
    versions: dict[str, tuple[str, ...]]

    def resolve(self, type_name: str) -> str:
        """The structure behind a chain of typedefs."""
        while type_name in self.aliases:
            type_name = self.aliases[type_name]
        return type_name


def find_header() -> Path | None:
    """The nvml.h of the installed ``nvidia-nvml-dev``, or None."""
    spec = importlib.util.find_spec("nvidia")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        found = sorted(Path(place).glob("*/include/nvml.h"))
        if found:
            return found[-1]
    return None


# -- reading the text --------------------------------------------------------------------------


def read_header(path: Path) -> Header:
    """Parse nvml.h far enough to know its functions and structures."""
    text = path.read_text(encoding="utf-8", errors="replace")
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    functions = {}
    for name, arguments in re.findall(
        r"DECLDIR\s+(nvml\w+)\s*\(([^)]*)\)\s*;", text + overlay.OLD_PROTOTYPES
    ):
        functions[name] = tuple(_declared(argument) for argument in _split(arguments))
    members = {
        name: tuple(" ".join(member.split()) for member in body.split(";") if member.strip())
        for body, name in re.findall(
            r"typedef\s+struct\s*\w*\s*\{([^}]*(?:\{[^}]*\}[^}]*)*)\}\s*(nvml\w+)\s*;", text
        )
    }
    aliases = dict(
        (new, old) for old, new in re.findall(r"typedef\s+(nvml\w+_t)\s+(nvml\w+_t)\s*;", text)
    )
    opaque = frozenset(re.findall(r"typedef\s+struct\s+\w+\s*\*\s*(nvml\w+)\s*;", text))
    versions: dict[str, tuple[str, ...]] = {}
    for macro, stem in re.findall(r"#define\s+((nvml\w+)_v\d+)\s+NVML_STRUCT_VERSION", text):
        versions[stem] = (*versions.get(stem, ()), macro)
    return Header(functions, members, aliases, opaque, versions)


def _split(arguments: str) -> Iterator[str]:
    for argument in arguments.split(","):
        if argument.strip() not in ("", "void"):
            yield argument


def _declared(argument: str) -> Declared:
    words = argument.replace("*", " * ").split()
    const = "const" in words
    pointer = "*" in words
    *type_words, name = [word for word in words if word not in ("const", "*")]
    return Declared(name, " ".join(type_words), const, pointer)


# -- asking the compiler -----------------------------------------------------------------------


def measure(path: Path, expressions: Iterable[str]) -> dict[str, int]:
    """The values of constant C expressions over the header, as a compiler sees them."""
    wanted = sorted(set(expressions))
    lines = "\n".join(f'    printf("%llu\\n", (unsigned long long)({each}));' for each in wanted)
    source = (
        "#include <stddef.h>\n#include <stdio.h>\n#define NVML_NO_UNVERSIONED_FUNC_DEFS\n"
        f'#include "{path}"\nint main(void)\n{{\n{lines}\n    return 0;\n}}\n'
    )
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "measure"
        program.with_suffix(".c").write_text(source, encoding="utf-8")
        subprocess.run(
            [*compiler(), "-o", str(program), str(program.with_suffix(".c"))], check=True
        )
        done = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    return dict(zip(wanted, map(int, done.stdout.split()), strict=True))


class Layouts:
    """Sizes and offsets; the first pass notes what is asked for, the second answers."""

    def __init__(self) -> None:
        self._known: dict[str, int] | None = None
        self._asked: set[str] = set()

    def value(self, expression: str) -> int:
        """The value of a constant C expression (0 in the first pass)."""
        if self._known is None:
            self._asked.add(expression)
            return 0
        return self._known[expression]

    def sizeof(self, type_name: str) -> int:
        return self.value(f"sizeof({type_name})")

    def offset(self, type_name: str, member: str) -> int:
        return self.value(f"offsetof({type_name}, {member})")

    def settle(self, path: Path) -> None:
        """Ask the compiler for everything noted."""
        self._known = measure(path, self._asked)


# -- the rules ---------------------------------------------------------------------------------


class Rules:
    """From a declaration to the parameters of :mod:`fakes.nvml.function`."""

    def __init__(self, header: Header, layouts: Layouts) -> None:
        self.header = header
        self.layouts = layouts

    def function(self, number: int, name: str) -> Function:
        declared = self.header.functions[name]
        params = [self._param(name, each, declared) for each in declared]
        params = self._pair(name, declared, params)
        reads = bool(_READS.match(name)) and name not in overlay.NEVER_PAGED
        paged = reads and name not in overlay.BY_HAND and _few_inputs(params)
        return Function(number, name, tuple(params), paged, paged and name in overlay.STEADY)

    def _param(self, function: str, it: Declared, others: tuple[Declared, ...]) -> Param:
        key = (function, it.name)
        if not it.pointer:
            return Param(it.name, self._by_value(it))
        if it.const and it.type == "char":
            return Param(it.name, Kind.TEXT_IN)
        base = self.header.resolve(it.type)
        size = overlay.EXACT_SIZES.get(key) or self.layouts.sizeof(it.type)
        optional = key in overlay.OPTIONAL
        if self._is_input(function, it):
            return Param(it.name, Kind.STRUCT_IN, size, versions=self._versions(function, it.type))
        if it.type == "char":
            fit = overlay.FITS.get(key, Fit.REFUSE)
            return Param(it.name, Kind.TEXT_OUT, overlay.FIXED_TEXTS.get(key, 0), fit=fit)
        if it.type == "nvmlDevice_t" and not any(_is_count(function, each) for each in others):
            return Param(it.name, Kind.DEVICE_OUT, 8)
        if it.type == "nvmlFieldValue_t":
            words = self._words(function, it.type)
            return Param(it.name, Kind.EACH, size, words=words)
        versions = self._versions(function, it.type)
        if versions:
            return self._versioned(function, it, base, size, versions)
        return Param(
            it.name, Kind.OUT, size, devices=self._device_offsets(it.type), optional=optional
        )

    def _by_value(self, it: Declared) -> Kind:
        if it.type == "nvmlDevice_t":
            return Kind.DEVICE
        if it.type in self.header.opaque:
            return Kind.HANDLE
        return Kind.U64 if it.type == "unsigned long long" else Kind.U32

    def _is_input(self, function: str, it: Declared) -> bool:
        key = (function, it.name)
        if it.const or key in overlay.INPUTS:
            return True
        return not _FILLS.search(function) and key not in overlay.OUTPUTS and it.type != "nvmlFieldValue_t"

    def _versioned(
        self, function: str, it: Declared, base: str, size: int, versions: tuple[int, ...]
    ) -> Param:
        words = (0, *self._words(function, it.type))
        param = Param(it.name, Kind.VERSIONED, size, versions=versions, words=words)
        members = self.header.members[base]
        count = [m.split()[-1] for m in members if re.search(r"(Count|count|Entries)$", m)]
        inner = [re.match(r"([\w ]+?) ?\* ?(\w+)$", member) for member in members]
        lists = [match for match in inner if match]
        if count and lists:
            element, name = lists[0].groups()
            return replace(
                param,
                kind=Kind.VERSIONED_LIST,
                count_at=self.layouts.offset(it.type, count[0]),
                list_at=self.layouts.offset(it.type, name),
                record=self.layouts.sizeof(element),
                optional=(function, it.name) in overlay.OPTIONAL,
            )
        if it.type == "nvmlGpmMetricsGet_t":
            return replace(
                param,
                kind=Kind.VERSIONED_EACH,
                words=(),
                count_at=self.layouts.offset(it.type, "numMetrics"),
                list_at=self.layouts.offset(it.type, "metrics"),
                record=self.layouts.sizeof("nvmlGpmMetric_t"),
            )
        return param

    def _versions(self, function: str, type_name: str) -> tuple[int, ...]:
        """The version words that a structure may start with; none if it has no version."""
        if type_name in overlay.BARE_VERSIONS:
            return (overlay.BARE_VERSIONS[type_name],)
        base = self.header.resolve(type_name)
        members = self.header.members.get(base, ())
        if not members or members[0] != "unsigned int version":
            return ()
        stem = re.sub(r"(_v\d+)?_t$", "", base)
        macros = self.header.versions.get(stem, ())
        if type_name == base and len(macros) > 1 and not function.endswith("V"):
            macros = tuple(m for m in macros if m == base.removesuffix("_t"))
        return tuple(self.layouts.value(macro) for macro in macros)

    def _words(self, function: str, type_name: str) -> tuple[int, ...]:
        found: list[int] = []
        base = self.header.resolve(type_name)
        for member in overlay.WORDS.get(function, ()):
            at = self.layouts.offset(type_name, member)
            declared = next(m for m in self.header.members[base] if m.split()[-1] == member)
            wide = declared.startswith("unsigned long long") or declared.split()[0] in self.header.opaque
            found += [at, at + 4] if wide else [at]
        return tuple(found)

    def _device_offsets(self, type_name: str) -> tuple[int, ...]:
        if type_name == "nvmlDevice_t":
            return (0,)
        members = self.header.members.get(self.header.resolve(type_name), ())
        names = [m.split()[1] for m in members if m.split()[0] == "nvmlDevice_t"]
        return tuple(self.layouts.offset(type_name, name) for name in names)

    def _pair(
        self, function: str, declared: tuple[Declared, ...], params: list[Param]
    ) -> list[Param]:
        """Join buffers with the parameters that say how long they are."""
        params = list(params)
        counts = [i for i, each in enumerate(declared) if _is_count(function, each)]
        for at in counts:
            lists: list[int] = []
            for i, param in enumerate(params):
                near = i in (at - 1, at + 1) or i - 1 in lists
                value_type = declared[i].type == "nvmlValueType_t"
                if i != at and near and param.kind is Kind.OUT and not value_type:
                    lists.append(i)
            if not lists:
                continue
            fit = Fit.REFUSE
            for i in lists:
                key = (function, declared[i].name)
                fit = overlay.FITS.get(key, Fit.REFUSE)
                params[i] = replace(
                    params[i],
                    kind=Kind.LIST,
                    partner=at,
                    fit=fit,
                    asking_succeeds=key in overlay.ASKING_SUCCEEDS,
                )
            params[at] = replace(
                params[at], kind=Kind.COUNT, size=4, fit=fit if fit is Fit.TRUST else Fit.REFUSE
            )
        for i, each in enumerate(declared):
            near = [n for n in (i + 1, i - 1) if 0 <= n < len(declared)]
            if params[i].kind is Kind.TEXT_OUT and not params[i].size:
                at = next(n for n in near if _SIZE.search(declared[n].name))
                params[i] = replace(params[i], partner=at)
                if declared[at].pointer:
                    params[at] = replace(params[at], kind=Kind.COUNT, size=4)
            elif params[i].kind is Kind.EACH:
                params[i] = replace(params[i], partner=i - 1)
            elif params[i].kind is Kind.OUT:
                key = (function, each.name)
                taken = {param.partner for param in params}
                at = next(
                    (
                        n
                        for n in near
                        if params[n].kind is Kind.U32
                        and n not in taken
                        and _SIZE.search(declared[n].name)
                    ),
                    -1,
                )
                if at >= 0:
                    size, pad = overlay.PADS.get(key, (params[i].size, 0))
                    fit = overlay.FITS.get(key, Fit.REFUSE)
                    params[i] = replace(
                        params[i], kind=Kind.ARRAY, size=size, pad=pad, partner=at, fit=fit
                    )
        return params


def _is_count(function: str, it: Declared) -> bool:
    return (
        it.pointer
        and it.type == "unsigned int"
        and bool(_COUNT.search(it.name))
        and (function, it.name) not in overlay.NOT_COUNTS
    )


def _few_inputs(params: list[Param]) -> bool:
    """Whether the inputs are few enough words for the page's keys (three)."""
    words = -1 if params and params[0].kind is Kind.DEVICE else 0
    sizes = {
        param.partner for param in params if param.kind in (Kind.TEXT_OUT, Kind.ARRAY, Kind.EACH)
    }
    for i, param in enumerate(params):
        if param.kind in (Kind.DEVICE, Kind.U32) and i not in sizes:
            words += 1
        elif param.kind in (Kind.VERSIONED, Kind.VERSIONED_LIST, Kind.EACH):
            words += len(param.words)
        elif param.kind in (
            Kind.HANDLE, Kind.U64, Kind.TEXT_IN, Kind.STRUCT_IN, Kind.VERSIONED_EACH
        ):
            return False
    return words <= 3


def functions(path: Path) -> tuple[Function, ...]:
    """The whole table, from one header."""
    header = read_header(path)
    layouts = Layouts()
    names = [name for name in header.functions if name not in overlay.BY_HAND]
    for final in (False, True):
        rules = Rules(header, layouts)
        table = tuple(rules.function(number, name) for number, name in enumerate(names))
        if not final:
            layouts.settle(path)
    return table


# -- writing -----------------------------------------------------------------------------------


def fingerprint(table: tuple[Function, ...]) -> int:
    """32 bits that differ when the tables of two builds differ."""
    return int.from_bytes(hashlib.sha256(repr(table).encode()).digest()[:4], "little")


def python_table(table: tuple[Function, ...]) -> str:
    """The text of ``fakes/nvml/table.py``: a row a function, as text (it loads five times faster
    than as calls, where Python may not keep compiled modules)."""
    rows = "\n".join(_row(function) for function in table)
    return f'''"""NVML's functions, each as a :class:`~fakes.nvml.function.Function`. Generated.

Written by ``python -m fakes.nvml.shim.generate`` from NVIDIA's public nvml.h; do not edit.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping

from fakes.nvml.function import Function, Param, parse

FINGERPRINT = 0x{fingerprint(table):08X}
"""Tells this table from another one; the page and the C library carry it."""

_ROWS = """\\
{rows}
"""

_known: dict[str, Param] = {{}}

FUNCTIONS: tuple[Function, ...] = tuple(
    parse(number, row, _known) for number, row in enumerate(_ROWS.splitlines())
)
"""In the order of their ids: the header's, then the older names."""

BY_NAME: Mapping[str, Function] = {{function.name: function for function in FUNCTIONS}}
'''


def _row(function: Function) -> str:
    flags = [flag for flag in ("paged", "steady") if getattr(function, flag)]
    head = " ".join([function.name, *flags])
    return " | ".join([head, *map(_row_param, function.params)])


def _row_param(param: Param) -> str:
    plain = Param("", Kind.OUT)
    words = [param.name, param.kind.name]
    for field in Param.__dataclass_fields__:
        value = getattr(param, field)
        if field in ("name", "kind") or value == getattr(plain, field):
            continue
        if field == "versions":
            words.append("versions=" + ",".join(f"0x{each:X}" for each in value))
        elif isinstance(value, tuple):
            words.append(f"{field}=" + ",".join(map(str, value)))
        elif isinstance(value, bool):
            words.append(f"{field}=yes")
        else:
            words.append(f"{field}={value.name if isinstance(value, Fit) else value}")
    return " ".join(words)


def main(arguments: list[str]) -> int:
    """Regenerate both files; 0, or 64 when there is no header."""
    path = Path(arguments[0]) if arguments else find_header()
    if path is None or not path.is_file():
        print(
            "generate: no nvml.h found. Give its path, or install the package nvidia-nvml-dev.",
            file=sys.stderr,
        )
        return 64
    table = functions(path.resolve())
    TABLE_PY.write_text(python_table(table), encoding="utf-8")
    print(f"{len(table)} functions, fingerprint 0x{fingerprint(table):08X}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
