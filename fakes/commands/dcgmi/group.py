"""``dcgmi group``: GPUs under one name."""

from __future__ import annotations

from collections.abc import Sequence

from fakes.commands.dcgmi.engine import Engine, NotImitated, RefusedError, group_of, read
from fakes.commands.dcgmi.tables import Table, joined
from fakes.hardware.links import switches_of
from fakes.system.dcgm import ALL_GPUS, ALL_SWITCHES, Group, Status

_FLAGS = {
    "-l": "list", "--list": "list", "--default": "default", "--defaultnvswitches": "switches",
    "-j": "json", "--json": "json", "-i": "info", "--info": "info", "-h": "help", "--help": "help",
}  # fmt: skip
_VALUES = {
    "-c": "create", "--create": "create", "-d": "delete", "--delete": "delete", "-g": "group",
    "--group": "group", "-a": "add", "--add": "add", "-r": "remove", "--remove": "remove",
    "--host": "host",
}  # fmt: skip
_HELP = "dcgmi group -l | -c NAME [--default] [-a GPUS] | -g GROUP [-a | -r GPUS] [-i] | -d GROUP\n"


def run(argv: Sequence[str], engine: Engine) -> int:
    """Make, change, list or delete groups."""
    options = read("group", argv, _FLAGS, _VALUES)
    memory, out = engine.memory, engine.out
    if "help" in options or not options:
        out.write(_HELP)
    elif set(options) & {"json", "switches"}:
        raise NotImitated("group " + " ".join(argv))
    elif "create" in options:
        everybody = tuple(gpu.index for gpu in engine.node.gpus)
        gpus = everybody if "default" in options else _numbers(options.get("add", ""), engine)
        group = memory.create(options["create"], gpus)
        out.write(f'Successfully created group "{group.name}" with a group ID of {group.id}\n')
    elif "delete" in options:
        group = _changeable(options["delete"], engine)
        del memory.groups[group.id]
        memory.watched.discard(group.id)
        out.write(f"Successfully removed group {group.id}\n")
    elif "list" in options:
        made = [(group, _entities(group.gpus)) for group in memory.groups.values()]
        out.write(_listing([*_always_there(engine), *made]))
    elif "group" in options:
        _change(options, str(group_of(options)), engine)
    else:
        raise NotImitated("group " + " ".join(argv))
    return 0


def _change(options: dict[str, str], number: str, engine: Engine) -> None:
    if "add" not in options and "remove" not in options:
        there = [each for each in _always_there(engine) if str(each[0].id) == number]
        if not there:
            group = _changeable(number, engine)
            there = [(group, _entities(group.gpus))]
        engine.out.write(_listing(there))
        return
    group = _changeable(number, engine)
    if "add" in options:
        added = _numbers(options["add"], engine)
        group.gpus = tuple(sorted({*group.gpus, *added}))
        engine.out.write("Add to group operation successful.\n")
    else:
        gone = _numbers(options["remove"], engine)
        group.gpus = tuple(gpu for gpu in group.gpus if gpu not in gone)
        engine.out.write("Remove from group operation successful.\n")


def _always_there(engine: Engine) -> list[tuple[Group, str]]:
    """The groups that nobody makes and nobody can change, and what is in them."""
    gpus = tuple(gpu.index for gpu in engine.node.gpus)
    numbers = (len(gpus) + switch.index for switch in switches_of(engine.node) if gpus)
    switches = ", ".join(f"Switch {number}" for number in numbers)
    return [
        (Group(ALL_GPUS, "DCGM_ALL_SUPPORTED_GPUS", gpus), _entities(gpus)),
        (Group(ALL_SWITCHES, "DCGM_ALL_SUPPORTED_NVSWITCHES"), switches or "None"),
    ]


def _entities(gpus: Sequence[int]) -> str:
    return ", ".join(f"GPU {gpu}" for gpu in gpus) or "None"


def _changeable(text: str, engine: Engine) -> Group:
    """A group that somebody made. Raises :class:`RefusedError` for all others."""
    group = engine.memory.groups.get(int(text)) if text.isdecimal() else None
    if group is None:
        raise RefusedError(
            f"Error: Cannot find group {text}. Return: The entity is not configured.",
            Status.NOT_CONFIGURED,
        )
    return group


def _numbers(text: str, engine: Engine) -> tuple[int, ...]:
    parts = [part.strip().removeprefix("gpu:") for part in text.split(",") if part.strip()]
    count = len(engine.node.gpus)
    if not all(part.isdecimal() and int(part) < count for part in parts):
        raise RefusedError(
            f'Error: Unable to add "{text}" to the group. Return: Bad parameter passed to function',
            Status.BADPARAM,
        )
    return tuple(sorted({int(part) for part in parts}))


def _listing(groups: Sequence[tuple[Group, str]]) -> str:
    table = Table(19, 58)
    table.rule()
    table.title("GROUPS")
    found = "1 group found." if len(groups) == 1 else f"{len(groups)} groups found."
    table.title(found)
    table.rule("=")
    table.row("Groups")
    for group, entities in groups:
        table.row(f"-> {group.id}")
        table.row("   -> Group ID", str(group.id))
        table.row("   -> Group Name", group.name)
        table.row("   -> Entities", entities)
    table.rule()
    return joined(table.lines)
