"""How long ago, in words."""

import pytest

from gputui.age import age


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "0s"),
        (0, "0s"),
        (59.9, "59s"),
        (60, "1m"),
        (3_599, "59m"),
        (3_600, "1h"),
        (86_399, "23h"),
        (86_400, "1d"),
        (1e12, "999d"),
    ],
)
def test_an_age_is_its_largest_unit_rounded_down(seconds, shown):
    """Never more than four characters, however long ago."""
    assert age(seconds) == shown
