"""dshbak, clubak and nodeset."""

import io

import pytest

from fakes.commands.registry import NOT_UNDERSTOOD

SAID = "n10: ok\nn0: ok\nn2: bad: Xid\nn1: ok\nn2: worse\n"


@pytest.mark.parametrize(
    ("argv", "printed"),
    [
        (("dshbak", "-c"),
         "----------------\nn[0-1,10]\n----------------\nok\n"
         "----------------\nn2\n----------------\nbad: Xid\nworse\n"),
        (("clubak", "-b"),
         "---------------\nn[0-1,10] (3)\n---------------\nok\n"
         "---------------\nn2\n---------------\nbad: Xid\nworse\n"),
    ],
)  # fmt: skip
def test_nodes_that_have_said_the_same_share_a_block(machine, argv, printed):
    """Its head folds their names; clubak counts them."""
    assert machine(*argv, stdin=io.StringIO(SAID)) == (0, printed)


def test_without_an_option_each_node_has_its_block(machine):
    """In the order of their names, whatever order the lines came in."""
    status, said = machine("dshbak", stdin=io.StringIO(SAID))
    assert status == 0
    assert [line for line in said.splitlines() if line.startswith("n")] == ["n0", "n1", "n2", "n10"]


@pytest.mark.parametrize(
    ("argv", "answer"),
    [
        (("-f", "n0", "n1,n2", "n7"), (0, "n[0-2,7]\n")),
        (("-e", "n[08-10]"), (0, "n08 n09 n10\n")),
        (("-c", "n[0-3],n2"), (0, "4\n")),
        (("-f",), (0, "n[2-3]\n")),
        (("-S", ",", "-e", "n[0-1]"), (0, "n0,n1\n")),
        (("-c", "n[0-"), (1, "nodeset: Parse error: bad node set: n[0-\n")),
        (("-e", "n[0-5]", "-x", "n[1-3],n5"), (0, "n0 n4\n")),
        (("-f", "n[0-5]", "-i", "n[4-9]"), (0, "n[4-5]\n")),
        (("-f", "@gpu"), (NOT_UNDERSTOOD, "nodeset: group 'gpu' is not known here\n")),
        (("-f", "n[0-5]&n3"), (NOT_UNDERSTOOD, "nodeset: -f n[0-5]&n3: this is not known here\n")),
    ],
)
def test_nodeset_folds_spreads_and_counts(machine, argv, answer):
    """Names from its words, or from standard input; groups prove nothing."""
    assert machine("nodeset", *argv, stdin=io.StringIO("n3\nn2\n")) == answer
