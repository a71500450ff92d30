"""Starts a sampler, with as little imported as that takes: it loads while the rest does."""

from __future__ import annotations

import os
import subprocess
import sys

from gputui.sources.mark import MARK_BYTES

_PROGRAM = (
    "import gc, sys; gc.disable(); sys.path[:] = sys.argv.pop(1).split('\\n'); "
    "from gputui.sampler import main; sys.exit(main())"
)
"""The child imports from exactly where its parent does, not from wherever it is started.

So it can do without ``site``, which would look for that place once more. Nothing is garbage while
modules are imported: to look for some all the same takes a tenth of the time.
"""


class Spawned:
    """A sampler that was started; ``mark`` is the descriptor of the memory shared with it."""

    __slots__ = ("child", "mark")

    def __init__(self, child: subprocess.Popen[bytes], mark: int) -> None:
        self.child = child
        self.mark = mark


def spawn(interval_s: float, skip: frozenset[int] = frozenset()) -> Spawned:
    """Start a sampler that leaves the GPUs in ``skip`` alone."""
    mark = os.memfd_create("gputui-progress")
    os.ftruncate(mark, MARK_BYTES)
    skipped = [word for index in sorted(skip) for word in ("--skip", str(index))]
    child = subprocess.Popen(
        [
            sys.executable, "-S", "-c", _PROGRAM, "\n".join(sys.path),
            "--interval", repr(interval_s),
            "--progress", str(mark),
            *skipped,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        pass_fds=(mark,),
        start_new_session=True,
    )  # fmt: skip
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            os.set_blocking(pipe.fileno(), False)
    return Spawned(child, mark)
