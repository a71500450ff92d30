"""Lines that something else has carried: each as rsyslog, or the kernel, would have written it.

``journalctl --output=json``, Docker, Fluentd, Logstash, Vector and the clouds' exports write an
object of JSON a line; Loki, CloudWatch and spreadsheets put columns in front. What a program other
than the kernel said in such an object is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gputui.logs.prefix import is_stamped
from gputui.text import decoded, printable

_SAID = (
    "MESSAGE", "message", "msg", "log", "line", "textPayload", "@message", "jsonPayload.MESSAGE",
    "jsonPayload.message", "Body", "body",
)  # fmt: skip
_SPEAKERS = (
    "_TRANSPORT", "SYSLOG_IDENTIFIER", "ident", "appname", "program", "process.name",
    "jsonPayload._TRANSPORT", "jsonPayload.SYSLOG_IDENTIFIER",
)  # fmt: skip
_TIMES = ("__REALTIME_TIMESTAMP", "@timestamp", "timestamp", "time", "ts")
_HOSTS = ("_HOSTNAME", "hostname", "host", "host.name", "jsonPayload._HOSTNAME", "labels.host")
_KERNELS = ("NVRM:", "nvidia", "pcieport")

_JSON = re.compile(r"(?:\x1e|\ufffd|data: |(?P<time>\d{4}-\S+)\s[\w.]+\s)?(?=\{\s*\")")
"""JSON sequences, events of a server, Fluentd's time and tag."""

_COLUMNS = re.compile(
    r"(?:(?:\"[^\"]{0,80}\"|[^\",\[]{0,80}),){1,6}(?P<quote>\")?"
    r"|\d{4}-\d\d-\d\d[T ]\S+\s+(?:\{[^{}]*\}|[\w./-]+)\s+"
)
"""Cells of a CSV file; a time and labels or the stream's name, as command lines of Loki and
CloudWatch print them."""

_DATE_FROM_S = 1e8
_LATEST_S = 1e11
_THOUSANDTHS = range(3)


def as_logged(text: str) -> str:
    """A line without what carried it; as it is if nothing did, empty if it is not the kernel's."""
    if "{" in text and (before := _JSON.match(text)):
        return _of_json(text[before.end() :], before["time"])
    if text[:1] == "[" or not (columns := _COLUMNS.match(text)):
        return text
    rest = text[columns.end() :]
    if not is_stamped(rest):
        return text
    if columns["quote"]:
        rest = rest.rstrip().removesuffix('"').replace('""', '"')
    return rest


def is_entry(text: str) -> bool:
    """Whether a line is an entry of a journal in JSON."""
    return _JSON.match(text) is not None and '"__REALTIME_TIMESTAMP"' in text


def _of_json(text: str, time: str | None) -> str:
    import json

    try:
        found = json.JSONDecoder(strict=False).raw_decode(text)[0]
    except ValueError:
        return ""
    return logged({"ts": time, **found} if time else found) if isinstance(found, dict) else ""


def logged(fields: Mapping[str, Any]) -> str:
    """A record with its time and machine; nothing for what others than the kernel have said."""
    flat = dict(fields)
    for name, value in fields.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": one for inner, one in value.items()}
    said = _text(next((flat[name] for name in _SAID if name in flat), None)).strip()
    speakers = [flat[name] for name in _SPEAKERS if name in flat]
    if not said or (speakers and "kernel" not in speakers):
        return ""
    if is_stamped(said) and not said.startswith("["):
        return said
    if not speakers and not said.startswith(("[", *_KERNELS)):
        return ""
    when = _when(next((flat[name] for name in _TIMES if name in flat), None))
    if when is None:
        return said
    if isinstance(when, float):
        return f"[{when:.6f}] {said}"
    host = next((flat[name] for name in _HOSTS if isinstance(flat.get(name), str)), "")
    return f"{when} {host.split()[0]} kernel: {said}" if host.strip() else f"{when} {said}"


def _text(value: object) -> str:
    """What was said: text, or the bytes of what is no plain text."""
    if isinstance(value, str):
        return printable(value.rstrip("\r\n"))
    if isinstance(value, list):
        try:
            return decoded(bytes(value))
        except (ValueError, TypeError):
            return ""
    return ""


def _when(value: object) -> str | float | None:
    """A time as RFC 3339, or as seconds since the boot, of whatever a record has."""
    if isinstance(value, str) and not value.isdecimal():
        return value.replace(" ", "T", 1) if value[:4].isdecimal() else None
    try:
        seconds = float(value)  # type: ignore[arg-type]
        if seconds < _DATE_FROM_S:
            return max(seconds, 0.0)
        for _ in _THOUSANDTHS:  # counted in milliseconds, microseconds or nanoseconds
            seconds /= 1000.0 if seconds >= _LATEST_S else 1.0
        from datetime import datetime, timezone

        moment = datetime.fromtimestamp(seconds, timezone.utc)
        return moment.isoformat(timespec="microseconds")
    except (ValueError, TypeError, OverflowError, OSError):
        return None
