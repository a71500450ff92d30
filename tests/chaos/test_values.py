from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaos.format.values import BadValueError, Count, Duration, Percent, Rate, Size, convert, shown
from chaos.selection import Gpus
from fakes.hardware.gpu import Lookup


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("30s", Duration, Duration(30_000_000)),
        ("1h30m", Duration, Duration(5_400_000_000)),
        ("1.5s", Duration, Duration(1_500_000)),
        ("250ms", Duration, Duration(250_000)),
        ("20%", Percent, Percent(20)),
        ("0%", Percent, Percent(0)),
        ("60GiB", Size, Size(60 << 30)),
        ("1.5 MiB", Size, Size(3 << 19)),
        ("500MiB/s", Rate, Rate(500 << 20)),
        ("60GiB/m", Rate, Rate(1 << 30)),
        ("12", Count, Count(12)),
        ("79", int, 79),
        ("true", bool, True),
        ("lost", Lookup, Lookup.LOST),
        ("n0/3", Gpus, Gpus("n0/3")),
        ("79", int | None, 79),
    ],
)
def test_a_word_reads_as_a_value(text, kind, value):
    """Units are part of the word; an optional type reads as the type."""
    assert convert(text, kind) == value


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("30", Duration, "'30' is not a duration with its unit, such as 30s"),
        ("s", Duration, "a duration with its unit"),
        ("-3s", Duration, "a duration with its unit"),
        ("3s4", Duration, "a duration with its unit"),
        ("99999d", Duration, "'99999d' is longer than 400 days, the longest there is."),
        ("999999999999h", Duration, "is longer than 400 days"),
        ("9" * 5000 + "h", Duration, "a duration with its unit"),
        ("\u0663s", Duration, "a duration with its unit"),
        ("\u0663", int, "a whole number"),
        ("9999999TiB", Size, "'9999999TiB' is more than 1024TiB, the most there is."),
        ("9999999TiB/s", Rate, "is more than 1024TiB"),
        ("x" * 100_000, Duration, "'" + "x" * 30 + "..." + "x" * 27 + "' is not a duration"),
        ("a\nb", Size, r"'a\nb' is not an amount"),
        ("20", Percent, "a percentage from 0% to 100%"),
        ("101%", Percent, "a percentage from 0% to 100%"),
        ("60GB", Size, "an amount of memory with its unit, such as 60GiB"),
        ("5GiB", Rate, "an amount of memory over time"),
        ("0MiB/s", Rate, "an amount of memory over time above zero"),
        ("0", Count, "a whole number from 1 to 100000"),
        ("1e3", int, "a whole number"),
        ("yes", bool, "true or false"),
        ("gone", Lookup, "unknown value 'gone'. Known: unknown, lost."),
    ],
)
def test_a_word_that_is_no_value_says_what_was_expected(text, kind, expected):
    """A mistake quotes the word and shows an example."""
    with pytest.raises(BadValueError) as caught:
        convert(text, kind)
    assert expected in str(caught.value)


@given(
    st.one_of(
        st.integers(0, 10**13).map(Duration),
        st.integers(1, 10**15).map(Rate),
        st.integers(0, 10**15).map(Size),
        st.integers(1, 100_000).map(Count),
        st.integers(0, 100).map(Percent),
        st.booleans(),
    )
)
def test_what_is_shown_reads_back(value):
    """A value shown to a user can be typed in again."""
    assert convert(shown(value), type(value)) == value
