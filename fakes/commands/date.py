"""``date``: the run's time, in the forms of coreutils.

What its ``-d`` takes is a language of its own: dates, times and relative words as scripts write
them are understood, anything else is 125.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone, tzinfo
from typing import TextIO
from zoneinfo import ZoneInfo

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command

_FLAGS = {"u": "utc", "R": "rfc-email"}
_VALUES = {"d": "date", "r": "reference", "s": "set"}
_LONG_FLAGS = ("universal", "rfc-822", "rfc-2822", "version")
_LONG_VALUES = ("iso-8601", "rfc-3339")
_USUAL = "%a %b %e %H:%M:%S %Z %Y"
_RFC_EMAIL = "%a, %d %b %Y %H:%M:%S %z"
_ISO = {
    "": "%Y-%m-%d", "date": "%Y-%m-%d", "hours": "%Y-%m-%dT%H%:z", "minutes": "%Y-%m-%dT%H:%M%:z",
    "seconds": "%Y-%m-%dT%H:%M:%S%:z", "ns": "%Y-%m-%dT%H:%M:%S,%N%:z",
}  # fmt: skip
_RFC_3339 = {
    "date": "%Y-%m-%d", "seconds": "%Y-%m-%d %H:%M:%S%:z", "ns": "%Y-%m-%d %H:%M:%S.%N%:z",
}  # fmt: skip
_CODE = re.compile(r"%([-_0^#+]*)(\d*)(:{0,3})([a-zA-Z%])")
_DIRECTLY = frozenset("aAbBcCdDeFgGhHIjklmMnprRStTuUVwWxXyYZ")
_RELATIVE = re.compile(
    r"([-+]?)\s*(\d+|an?|next|last)\s*"
    r"(sec(?:ond)?s?|min(?:ute)?s?|hours?|days?|weeks?|fortnights?|months?|years?)\b(\s+ago\b)?",
    re.I,
)
_SECONDS = {"sec": 1, "min": 60, "hou": 3600, "day": 86_400, "wee": 604_800, "for": 1_209_600}
_FORMS = (
    "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d", "%Y%m%d", "%b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %Y", "%d %b %Y %H:%M:%S",
    "%b %d %Y", "%d %b %Y", "%m/%d/%Y", "%a %Y-%m-%d %H:%M:%S",
)  # fmt: skip
_OF_THE_DAY = ("%H:%M:%S", "%H:%M")
_OF_THE_YEAR = ("%b %d %H:%M:%S", "%b %d %H:%M")


class _UnknownFormError(Exception):
    """A form that is not known here. One clause."""


@command("date", latency_us=1_000)
def main(
    argv: Sequence[str], clock: Callable[[], float], env: Mapping[str, str], cwd: str,
    out: TextIO, err: TextIO,
) -> int:  # fmt: skip
    """Print a moment; setting the clock is refused, as without the right to."""
    words, iso = _without_iso(argv)
    try:
        options, rest = parse(words, _FLAGS, _VALUES, _LONG_VALUES, _LONG_FLAGS)
        zone = _zone(env, utc="utc" in options or "universal" in options)
        now = datetime.fromtimestamp(clock(), zone)
        if "set" in options:
            err.write("date: cannot set date: Operation not permitted\n")
            return 1
        if "version" in options:
            out.write("date (GNU coreutils) 8.32\n")
            return 0
        if "reference" in options:
            raise _UnknownFormError(f"-r {options['reference']}: files' times are not known here")
        moment = _moment(options["date"], now) if "date" in options else now
        out.write(_format(_form(options, rest, iso), moment) + "\n")
    except (UnknownOptionError, _UnknownFormError) as error:
        err.write(f"date: {error}\n")
        return NOT_UNDERSTOOD
    return 0


def _without_iso(argv: Sequence[str]) -> tuple[list[str], str | None]:
    """The words without ``-I``, whose value is optional and stands in the same word."""
    words, iso = [], None
    for word in argv:
        if word.startswith("-I") and not word.startswith("--"):
            iso = word[2:]
        elif word in ("--iso-8601",):
            iso = ""
        else:
            words.append(word)
    return words, iso


def _form(options: Mapping[str, str], rest: Sequence[str], iso: str | None) -> str:
    iso = options.get("iso-8601", iso)
    if rest:
        if len(rest) > 1 or not rest[0].startswith("+"):
            raise _UnknownFormError(f"{' '.join(rest)}: this form is not known here")
        return rest[0][1:]
    if iso is not None:
        return _chosen(_ISO, iso, "-I")
    if "rfc-3339" in options:
        return _chosen(_RFC_3339, options["rfc-3339"], "--rfc-3339=")
    if {"rfc-email", "rfc-822", "rfc-2822"} & set(options):
        return _RFC_EMAIL
    return _USUAL


def _chosen(forms: Mapping[str, str], word: str, option: str) -> str:
    for name, form in forms.items():
        if word and name.startswith(word):
            return form
    if word in forms:
        return forms[word]
    raise _UnknownFormError(f"{option}{word}: this form is not known here")


def _zone(env: Mapping[str, str], *, utc: bool) -> tzinfo | None:
    """The caller's time zone; None is this machine's."""
    name = env.get("TZ")
    if utc or name in ("", "UTC", "UTC0", "GMT"):
        return timezone.utc
    if name is None:
        return None
    try:
        return ZoneInfo(name.lstrip(":"))
    except (KeyError, ValueError, OSError):
        raise _UnknownFormError(f"TZ={name}: this time zone is not known here") from None


# --- printing ------------------------------------------------------------------------------------


def _format(form: str, moment: datetime) -> str:
    moment = moment if moment.tzinfo else moment.astimezone()
    return _CODE.sub(lambda found: _field(found, moment), form)


def _field(found: re.Match[str], moment: datetime) -> str:
    flags, width, colons, letter = found.groups()
    if letter == "s":
        text = str(int(moment.timestamp()))
    elif letter == "N":
        text = f"{moment.microsecond * 1000:09d}"[: int(width) if width else 9]
    elif letter == "z":
        text = _offset(moment, colons)
    elif letter == "%":
        return "%"
    elif letter == "P":
        text = moment.strftime("%p").lower()
    elif letter == "q":
        text = str((moment.month + 2) // 3)
    elif letter in _DIRECTLY:
        text = moment.strftime(f"%{letter}")
        if letter == "Z" and moment.utcoffset() == timedelta(0):
            text = "UTC"
    else:
        raise _UnknownFormError(f"%{letter}: this form is not known here")
    return _flagged(text, flags, width if letter != "N" else "")


def _flagged(text: str, flags: str, width: str) -> str:
    if "^" in flags:
        text = text.upper()
    if "#" in flags:
        text = text.swapcase()
    if "-" in flags:
        return text.lstrip("0 ") or "0"
    if "_" in flags and text[:1] == "0":
        bare = text.lstrip("0") or "0"
        text = bare.rjust(max(len(text), int(width or 0)))
    if "0" in flags and text[:1] == " ":
        text = text.lstrip().rjust(len(text), "0")
    return text.rjust(int(width or 0), "0" if text.isdecimal() else " ")


def _offset(moment: datetime, colons: str) -> str:
    minutes = round((moment.utcoffset() or timedelta()).total_seconds() / 60)
    sign, minutes = ("-" if minutes < 0 else "+"), abs(minutes)
    return f"{sign}{minutes // 60:02d}{':' if colons else ''}{minutes % 60:02d}"


# --- reading -------------------------------------------------------------------------------------


def _moment(text: str, now: datetime) -> datetime:
    """The moment that a text of ``-d`` means. Raises :class:`_UnknownFormError`."""
    words = re.sub(r"\s+", " ", text.strip())
    if re.fullmatch(r"@-?\d+(\.\d+)?", words):
        return datetime.fromtimestamp(float(words[1:]), now.tzinfo)
    moves = [found.groups() for found in _RELATIVE.finditer(words)]
    rest = re.sub(r"\s+", " ", _RELATIVE.sub(" ", words)).strip(" ,")
    moment = _absolute(rest, now) if rest else now
    for move in moves:
        moment = _moved(moment, *move)
    return moment


def _moved(moment: datetime, sign: str, number: str, unit: str, ago: str | None) -> datetime:
    many = int(number) if number.isdecimal() else -1 if number.lower() == "last" else 1
    if (sign == "-") != bool(ago):
        many = -many
    unit = unit.lower()
    if unit.startswith("mon"):
        months = moment.year * 12 + moment.month - 1 + many
        return _on_a_day(moment, months // 12, months % 12 + 1)
    if unit.startswith("year"):
        return _on_a_day(moment, moment.year + many, moment.month)
    return moment + timedelta(seconds=many * _SECONDS[unit[:3]])


def _on_a_day(moment: datetime, year: int, month: int) -> datetime:
    """The same day of another month; one that this has not runs over into the next (mktime(3))."""
    return moment.replace(year=year, month=month, day=1) + timedelta(days=moment.day - 1)


def _absolute(text: str, now: datetime) -> datetime:
    named = text.lower()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for word, days in (("today", 0), ("now", 0), ("yesterday", -1), ("tomorrow", 1)):
        if named == word:
            return now + timedelta(days=days)
        if named.startswith(f"{word} "):
            time = _absolute(text[len(word) + 1 :], now)
            return time + timedelta(days=days)
    if named == "midnight":
        return midnight
    text, zone = _without_zone(text, now)
    for form in _FORMS:
        if (read := _read(text, form)) is not None:
            return read.replace(tzinfo=zone).astimezone(now.tzinfo)
    for form in _OF_THE_DAY:
        if (read := _read(text, form)) is not None:
            return midnight + timedelta(hours=read.hour, minutes=read.minute, seconds=read.second)
    for form in _OF_THE_YEAR:
        if (read := _read(f"{now.year} {text}", f"%Y {form}")) is not None:
            return read.replace(tzinfo=zone).astimezone(now.tzinfo)
    raise _UnknownFormError(f"-d '{text}': this form is not known here")


def _read(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(re.sub(r"[.,]\d+$", "", text), form)
    except ValueError:
        return None


def _without_zone(text: str, now: datetime) -> tuple[str, tzinfo | None]:
    found = re.search(r"\s*(UTC|GMT|Z)$", text)
    if found:
        return text[: found.start()], timezone.utc
    found = re.search(r"(?<=\d)\s*([-+])(\d\d):?(\d\d)$", text) if ":" in text else None
    if found:
        minutes = int(found[2]) * 60 + int(found[3])
        delta = timedelta(minutes=-minutes if found[1] == "-" else minutes)
        return text[: found.start()], timezone(delta)
    # CEST and the like have been known to the zone of the caller.
    found = re.search(r" ([A-Z]{3,4})(?= \d{4}$|$)", text)
    if found and found[1] == now.tzname():
        return text[: found.start()] + text[found.end() :], now.tzinfo
    return text, now.tzinfo
