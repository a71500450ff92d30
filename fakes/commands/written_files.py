"""Files that a look-alike writes where its caller is: in the caller's view of the file system.

A look-alike runs in the simulator, which does not see what its caller sees. So the caller's side
does the writing: it starts a shell that decodes what it is handed.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence

Spawn = Callable[[Sequence[str], int | None], int | None]

_PIECE = 96 * 1024
"""An argument of a program can have 128 KiB (execve(2), MAX_ARG_STRLEN)."""
_MOST_BYTES = 1_200_000
"""All arguments together can have 2 MiB; in base64 they are a third longer."""
_SCRIPT = (
    'PATH=/usr/bin:/bin; export PATH; file="$1"; shift; '
    'for piece do printf %s "$piece"; done | base64 -d >"$file"'
)


def write_file(spawn: Spawn, path: str, content: bytes) -> bool:
    """Write a file, whole, at a path that is the caller's; whether that could be done."""
    if len(content) > _MOST_BYTES:
        raise ValueError(f"{path}: {len(content)} bytes are more than {_MOST_BYTES}")
    text = b64encode(content).decode()
    pieces = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    script = f'{_SCRIPT} && test -f "$file"'
    return spawn(["/bin/sh", "-c", script, "sh", path, *pieces], None) == 0
