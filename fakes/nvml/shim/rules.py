"""From what the header declares to what a carrier must know: the generator's rules.

Directions come from types, ``const`` and names of functions and parameters; ``overlay.py`` holds
the exceptions.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from fakes.nvml.function import Fit, Function, Kind, Param
from fakes.nvml.shim import overlay
from fakes.nvml.shim.header import Declared, Header, Layouts, read_header

_READS = re.compile(r"^nvml[A-Za-z]*?(Get|Query|Is[A-Z]|OnSame)")
_FILLS = re.compile(r"(Get|Query|Wait|Create|Alloc|Is[A-Z]|OnSame)")
_COUNT = re.compile(r"count$", re.IGNORECASE)
_SIZE = re.compile(r"(length|size)$", re.IGNORECASE)


class Rules:
    """From a declaration to the parameters of :mod:`fakes.nvml.function`."""

    def __init__(self, header: Header, layouts: Layouts) -> None:
        self.header = header
        self.layouts = layouts

    def function(self, number: int, name: str) -> Function:
        """The table's row for one prototype."""
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
        if key in overlay.OUTPUTS or it.type == "nvmlFieldValue_t":
            return False
        return not _FILLS.search(function)

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
            first = declared.split()[0]
            wide = declared.startswith("unsigned long long") or first in self.header.opaque
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
        for at, each in enumerate(declared):
            if _is_count(function, each):
                _pair_lists(function, declared, params, at)
        for at, param in enumerate(params):
            near = [n for n in (at + 1, at - 1) if 0 <= n < len(declared)]
            sizes = [n for n in near if _SIZE.search(declared[n].name)]
            if param.kind is Kind.TEXT_OUT and not param.size:
                params[at] = replace(param, partner=sizes[0])
                if declared[sizes[0]].pointer:
                    params[sizes[0]] = replace(params[sizes[0]], kind=Kind.COUNT, size=4)
            elif param.kind is Kind.EACH:
                params[at] = replace(param, partner=at - 1)
            elif param.kind is Kind.OUT:
                taken = {other.partner for other in params}
                free = [n for n in sizes if params[n].kind is Kind.U32 and n not in taken]
                if free:
                    key = (function, param.name)
                    size, pad = overlay.PADS.get(key, (param.size, 0))
                    fit = overlay.FITS.get(key, Fit.REFUSE)
                    params[at] = replace(
                        param, kind=Kind.ARRAY, size=size, pad=pad, partner=free[0], fit=fit
                    )
        return params


def _pair_lists(
    function: str, declared: tuple[Declared, ...], params: list[Param], at: int
) -> None:
    """Join the count at ``at`` with the list beside it, and with a second one after that."""
    lists: list[int] = []
    for i, param in enumerate(params):
        near = i in (at - 1, at + 1) or i - 1 in lists
        if i != at and near and param.kind is Kind.OUT and declared[i].type != "nvmlValueType_t":
            lists.append(i)
    for i in lists:
        key = (function, declared[i].name)
        fit = overlay.FITS.get(key, Fit.REFUSE)
        asking_succeeds = key in overlay.ASKING_SUCCEEDS
        params[i] = replace(
            params[i], kind=Kind.LIST, partner=at, fit=fit, asking_succeeds=asking_succeeds
        )
        trusts = fit if fit is Fit.TRUST else Fit.REFUSE
        params[at] = replace(params[at], kind=Kind.COUNT, size=4, fit=trusts)


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
            Kind.HANDLE,
            Kind.U64,
            Kind.TEXT_IN,
            Kind.STRUCT_IN,
            Kind.VERSIONED_EACH,
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
