"""Lines that ``journalctl --output=json`` wrote, as rsyslog would have written them."""

from __future__ import annotations

from typing import Any

from gputui.text import decoded, printable


def is_export(text: str) -> bool:
    """Whether a line is an entry of a journal in JSON."""
    return text.startswith("{") and '"MESSAGE"' in text


def as_logged(text: str) -> str:
    """An entry of the kernel's with its time and machine; nothing for what others have said."""
    import json
    from datetime import datetime, timezone

    try:
        entry: dict[str, Any] = json.loads(text)
        if "kernel" not in (entry.get("_TRANSPORT"), entry.get("SYSLOG_IDENTIFIER")):
            return ""
        message = entry["MESSAGE"]
        at_s = int(entry["__REALTIME_TIMESTAMP"]) / 1e6
        when = datetime.fromtimestamp(at_s, timezone.utc).isoformat(timespec="microseconds")
        said = printable(message) if isinstance(message, str) else decoded(bytes(message))
        return f"{when} {entry.get('_HOSTNAME') or 'localhost'} kernel: {said.strip()}"
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, OSError):
        return ""
