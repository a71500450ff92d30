"""The names of months in logs' stamps: journalctl writes those of its locale."""

from __future__ import annotations

import unicodedata
from functools import cache

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

MONTH = r"[^\W\d_]{1,5}\.?|\d\d?月"
"""What may be a month's name: a short word, in whatever language."""

_ABROAD = (
    "gen ene janv sty led янв",
    "fev fevr fevri lut uno фев",
    "mars mrt marz maart marec мар мара",
    "avr avril abr kwi апр",
    "mai mei maj mag may май мая",
    "juin giu cze июн июня",
    "juil lug lip juli июл июля",
    "aout ago sie авг",
    "sept set wrz сен сент",
    "okt ott out paz окт",
    "lis noy ноя нояб",
    "dez dic des gru дек",
)
"""German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish and Russian, month by month,
without their accents.
"""


def month_number(name: str) -> int | None:
    """1 to 12; None for a name that is not known.

    >>> month_number("févr."), month_number("11月"), month_number("Okt")
    (2, 11, 10)
    """
    if name in _ENGLISH:
        return _ENGLISH[name]
    if name.endswith("月"):
        number = int(name[:-1])
        return number if 1 <= number <= len(MONTHS) else None
    return _abroad().get(_plain(name))


_ENGLISH = {name: number for number, name in enumerate(MONTHS, 1)}


def _plain(name: str) -> str:
    letters = unicodedata.normalize("NFD", name.lower().rstrip("."))
    return "".join(one for one in letters if not unicodedata.combining(one))


@cache
def _abroad() -> dict[str, int]:
    names = {
        _plain(name): number for number, line in enumerate(_ABROAD, 1) for name in line.split()
    }
    return {name.lower(): number for name, number in _ENGLISH.items()} | names
