"""Who goes on next, where several may at one moment of the run."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from chaos.lookalikes.lineage import lineage
from chaos.lookalikes.waiting_line import Place, WaitingLine


@contextmanager
def family() -> Iterator[list[int]]:
    """A shell and two children of it, the elder first: their PIDs."""
    script = "cat >/dev/null & echo $!; cat >/dev/null & echo $!; exec cat"
    with subprocess.Popen(
        ["sh", "-c", f"exec 3<&0; {script.replace('cat', 'cat <&3')}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as shell:
        assert shell.stdout is not None
        yield [shell.pid, *(int(shell.stdout.readline()) for _ in range(2))]
        assert shell.stdin is not None
        shell.stdin.close()


def taken(line: WaitingLine) -> int:
    """How many steps the line had for us."""
    steps = 0
    while line.take():
        steps += 1
    return steps


class Log(list[str]):
    """What was done, in order."""

    def step(self, name: str, *, is_there: bool = True) -> bool:
        self.append(name)
        return is_there


def test_a_child_comes_after_its_parent_and_its_elder():
    """Ancestors stand before a process's own PID, so that who began first is first."""
    with family() as (parent, elder, younger):
        assert lineage(elder)[:-1] == lineage(parent)
        assert lineage(parent) < lineage(elder) < lineage(younger)
    assert lineage(parent) == ()


def test_one_is_let_go_on_at_a_time():
    """In the order in which they were added; who is not there any more takes no turn."""
    line, log = WaitingLine(), Log()
    line.add(partial(log.step, "first"))
    line.add(partial(log.step, "gone", is_there=False))
    line.add(partial(log.step, "second"))
    assert line.take()
    assert log == ["first"]
    assert line.take()
    assert log == ["first", "gone", "second"]
    assert not line.take()


def test_those_who_came_at_one_moment_are_put_in_order():
    """By their words, then the eldest first, then by thread; whenever they came."""
    line, log = WaitingLine(), Log()
    with family() as (parent, elder, younger):
        for name, place in (
            ("b", Place(parent, words=("b",))),
            ("a, younger", Place(younger, words=("a",))),
            ("a, elder, second", Place(elder, 12, ("a",))),
            ("a, elder, first", Place(elder, 9, ("a",))),
        ):
            line.come(place, partial(log.step, name))
        assert taken(line) == 4
    assert log == ["a, elder, first", "a, elder, second", "a, younger", "b"]


def test_the_new_ones_come_last():
    """The eldest of them first; one of them alone can be let begin before the others' turn."""
    line, log = WaitingLine(), Log()
    with family() as (parent, elder, younger):
        for name, pid in (("younger", younger), ("elder", elder), ("parent", parent)):
            line.be_born(Place(pid), partial(log.step, name))
        line.add(partial(log.step, "woken"))
        assert line.take_born()
        assert taken(line) == 3
    assert log == ["parent", "woken", "elder", "younger"]
