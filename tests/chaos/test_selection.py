from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos.selection import Gpus, Inventory, JobId, Nodes, SelectionError

FLEET = Inventory(tuple(f"n{number}" for number in range(12)), 8, ("train",))


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("n7/3", [("n7", 3)]),
        ("3", [("n0", 3)]),
        ("n1/*", [("n1", index) for index in range(8)]),
        ("*/3", [(f"n{node}", 3) for node in range(12)]),
        ("n9..n11/0", [("n9", 0), ("n10", 0), ("n11", 0)]),
        ("n0/6..7,n1/0", [("n0", 6), ("n0", 7), ("n1", 0)]),
        ("n0/3, n0/3", [("n0", 3)]),
    ],
)
def test_a_selector_selects_gpus(text, chosen):
    """Nodes and indices, ranges of both, lists; each GPU once, in the selector's order."""
    assert list(Gpus.parse(text).resolve(FLEET)) == chosen


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("n0", ["n0"]),
        ("n4..n6", ["n4", "n5", "n6"]),
        ("n1,n0,n1", ["n1", "n0"]),
        ("*", list(FLEET.nodes)),
    ],
)
def test_a_selector_selects_nodes(text, chosen):
    """A name, a range, a list, or all."""
    assert list(Nodes.parse(text).resolve(FLEET)) == chosen


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("n7", "'n7' is a node; all of its GPUs are n7/*"),
        ("n7/x", "'n7/x' is not a selection of GPUs"),
        ("/3", "'/3' is not a selection of nodes"),
        ("", "'' is not a selection of GPUs"),
        ("n0/8", "there is no GPU n0/8; n0 has GPUs 0 to 7"),
        ("n12/0", "there is no node 'n12'; the nodes are n0 to n11"),
        ("n6..n4/0", "the range n6..n4 runs backwards"),
        ("n0/5..2", "the range 5..2 runs backwards"),
        ("n0..m3/1", "not a selection of nodes"),
        ("-1", "'-1' is not a selection of GPUs"),
    ],
)
def test_a_selector_that_selects_nothing_is_an_error(text, problem):
    """Whatever does not select exactly what is there is refused, and says why."""
    with pytest.raises(SelectionError) as caught:
        Gpus.parse(text).resolve(FLEET)
    assert problem in str(caught.value)


def test_a_job_is_chosen_by_its_id():
    """A job that is not there is an error with those that are."""
    assert JobId.parse("train").resolve(FLEET) == "train"
    with pytest.raises(SelectionError, match=r"there is no job 'trani'\. Did you mean 'train'"):
        JobId.parse("trani").resolve(FLEET)


@given(st.text(max_size=20))
def test_no_text_is_too_strange_for_a_selector(text):
    """Any text selects something that is there, or is refused; nothing else comes out."""
    try:
        chosen = Gpus.parse(text).resolve(FLEET)
    except SelectionError:
        return
    assert chosen
    assert all(node in FLEET.nodes and 0 <= index < FLEET.gpus for node, index in chosen)
