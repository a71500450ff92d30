"""``gputui bundle``: evidence for a ticket, in one archive."""

from __future__ import annotations

import argparse
import io
import os
import sys
import tarfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from gputui.commands.parser import CommandParser
from gputui.exit_codes import BAD_USAGE, HEALTHY, UNREADABLE
from gputui.streams import complain

_EXAMPLES = """\
gputui bundle                     this node's evidence, into a new file here
gputui bundle --gpu 3 -o gpu3.tar.gz
"""

_EXIT_CODES = """\
exit codes: 0 written, 2 could not write, 64 bad usage
"""


def run(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    parser = CommandParser("bundle", _EXAMPLES, _EXIT_CODES)
    parser.add_argument("--gpu", type=_index, metavar="N", help="what concerns one GPU alone")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to write it")
    options = parser.parse_args(list(arguments))
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    path: Path = options.output or Path(f"gputui-bundle-{stamp}.tar.gz")
    if path.exists():
        complain(f"{path} is there already: name another file with -o, or remove it first")
        return UNREADABLE

    from gputui.bundle.contents import contents
    from gputui.doctor.reading import local_site

    site = local_site()
    there = [gpu.index for gpu in site.sample.gpus] if site.sample else []
    if options.gpu is not None and there and options.gpu not in there:
        complain(f"no GPU {options.gpu}: this node has GPUs {there[0]} to {there[-1]}")
        return BAD_USAGE
    files = contents(site, site.config.kernel_log, options.gpu)
    try:
        _write(path, f"gputui-bundle-{stamp}", files)
    except OSError as error:
        complain(f"cannot write {path}: {error.strerror}")
        return UNREADABLE
    if site.unread:
        complain(site.unread)
    sys.stdout.write(f"wrote {path}: {', '.join(files)}\n")
    return HEALTHY


def _index(text: str) -> int:
    if not text.isascii() or not text.isdecimal():
        raise argparse.ArgumentTypeError(f'"{text}": expected the index of a GPU, such as 3')
    return int(text)


def _write(path: Path, folder: str, files: Mapping[str, str]) -> None:
    """An archive that its owner alone may read, whole or not at all."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as tar:
            for name, text in files.items():
                data = text.encode("utf-8", "replace")
                member = tarfile.TarInfo(f"{folder}/{name}")
                member.size, member.mode, member.mtime = len(data), 0o600, int(time.time())
                tar.addfile(member, io.BytesIO(data))
    except BaseException:
        path.unlink(missing_ok=True)
        raise
