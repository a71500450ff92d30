"""What nvml.h says: prototypes and structures from its text, sizes and offsets from a compiler."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fakes.nvml.shim import overlay
from fakes.nvml.shim.build import compiler


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
    aliases = {
        new: old for old, new in re.findall(r"typedef\s+(nvml\w+_t)\s+(nvml\w+_t)\s*;", text)
    }
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
        """A type's size in bytes."""
        return self.value(f"sizeof({type_name})")

    def offset(self, type_name: str, member: str) -> int:
        """A member's offset in its structure, in bytes."""
        return self.value(f"offsetof({type_name}, {member})")

    def settle(self, path: Path) -> None:
        """Ask the compiler for everything noted."""
        self._known = measure(path, self._asked)
