"""The processes as a tree: below whom they hang, in which order, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest

from gputui.model import Ancestor
from gputui.tui.frame import draw
from gputui.tui.glyphs import ASCII, UNICODE
from gputui.tui.panels.tree import NO_GPU, tree
from gputui.tui.scene import Scene
from gputui.tui.view import Sort, View

GIB = 1 << 30


@pytest.fixture
def family(make: Any) -> Any:
    """Eight ranks below a launcher, which a shell and a session started; a kernel on its own."""
    ranks = [
        make.process(4001 + i, i, parent_pid=4000, memory_bytes=(60 - i) * GIB) for i in range(8)
    ]
    alone = make.process(77, 0, user="bob", parent_pid=70, memory_bytes=2 * GIB, command="kernel")
    above = [
        Ancestor(4000, 3999, "alice", "torchrun train.py"),
        Ancestor(3999, 3998, "alice", "bash"),
        Ancestor(3998, 1, "root", "sshd"),
        Ancestor(70, 1, "bob", "jupyter-lab"),
    ]
    return [*ranks, alone], above


def lines(rows: Any) -> list[str]:
    return [f"{row.branch}{row.process.pid}" for row in rows]


def test_processes_hang_below_who_started_them(family: Any) -> None:
    """Launchers are shown; the shells and sessions above them are not."""
    rows = tree(*family, UNICODE)
    assert lines(rows) == [
        "4000", *(f"├ {4001 + i}" for i in range(7)), "└ 4008", "70", "└ 77",
    ]  # fmt: skip
    assert (rows[0].below, rows[0].process.gpu) == (8, NO_GPU)
    assert rows[0].process.memory_bytes == sum(60 - i for i in range(8)) * GIB


def test_who_holds_several_together_is_shown(make: Any) -> None:
    """Two launchers below one job script: the script is where they meet."""
    above = [
        Ancestor(10, 9, "a", "torchrun"), Ancestor(20, 9, "a", "torchrun"),
        Ancestor(9, 8, "a", "job.sh"), Ancestor(8, 1, "root", "slurmstepd"),
    ]  # fmt: skip
    processes = [make.process(11, 0, parent_pid=10), make.process(21, 1, parent_pid=20)]
    assert lines(tree(processes, above, UNICODE)) == ["9", "├ 10", "│ └ 11", "└ 20", "  └ 21"]


def test_a_process_on_two_gpus_is_two_rows_with_its_children_below(make: Any) -> None:
    """The second row has no branch of its own."""
    processes = [
        make.process(5, 0, parent_pid=1), make.process(5, 1, parent_pid=1),
        make.process(6, 0, parent_pid=5),
    ]  # fmt: skip
    rows = tree(processes, [], UNICODE)
    assert [(row.process.pid, row.process.gpu, row.branch) for row in rows] == [
        (5, 0, ""), (5, 1, ""), (6, 0, "└ "),
    ]  # fmt: skip


def test_whoever_claims_to_be_its_own_ancestor_ends_nothing(make: Any) -> None:
    """A recording may hold any number: no row is lost, and there is an end."""
    above = [Ancestor(1, 2), Ancestor(2, 1), Ancestor(3, 3)]
    processes = [
        make.process(5, 0, parent_pid=1), make.process(6, 0, parent_pid=3),
        make.process(7, 0, parent_pid=7), make.process(8, 0, parent_pid=9),
        make.process(9, 0, parent_pid=8),
    ]  # fmt: skip
    rows = tree(processes, above, UNICODE)
    assert {row.process.pid for row in rows} >= {5, 6, 7, 8, 9}


def test_families_stand_in_the_order_of_their_first(make: Any, family: Any) -> None:
    """Whatever is sorted by; and a filter that names a launcher keeps what it started."""
    processes, above = family
    snapshot = make.around(make.snapshot(processes=processes), ancestors=tuple(above))
    view = View(as_tree=True, sort=Sort.PID)
    shown = draw(Scene(snapshot, now_s=make.now_s, view=view), 100, 40)
    texts = [line.text for line in shown.lines]
    first = next(i for i, text in enumerate(texts) if "jupyter-lab" in text)
    assert "└ kernel" in texts[first + 1]
    assert "torchrun train.py" in texts[first + 2]
    assert "as a tree, by PID" in texts[first - 2]
    assert "  9 " in texts[first - 2]
    view = View(as_tree=True, filter_text="torchrun")
    shown = draw(Scene(snapshot, now_s=make.now_s, view=view), 100, 40)
    assert "8 of 9" in "\n".join(line.text for line in shown.lines)
    assert not any("kernel" in line.text for line in shown.lines)


def test_a_tree_can_be_drawn_in_ascii(family: Any) -> None:
    """With branches as wide as the trunk beside them."""
    assert all(row.branch.isascii() for row in tree(*family, ASCII))
    for glyphs in (ASCII, UNICODE):
        assert len(glyphs.branch) == len(glyphs.last_branch) == len(glyphs.trunk)


async def test_a_key_turns_the_list_into_a_tree(make: Any, screenful: Any, family: Any) -> None:
    """And back; who holds no GPU is opened and told, and gets no signal."""
    processes, above = family
    shown = screenful()
    async with shown.app.run_test(size=(120, 40)) as pilot:
        snapshot = make.snapshot(gpus=1, processes=processes)
        shown.source.feed(make.around(snapshot, ancestors=tuple(above)))
        await pilot.pause()
        await pilot.press("t", "tab")
        assert "torchrun train.py" in shown.text()
        await pilot.press("T")
        assert "It holds no GPU" in shown.text()
        await pilot.press("enter")
        assert "on no GPU itself" in shown.text()
        assert "4001 on GPU 0" in shown.text()
        await pilot.press("escape", "t")
        assert "torchrun" not in shown.text()
