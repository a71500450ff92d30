"""Running fakes, by name: each has a directory of its own, and holds a lock in it.

``$XDG_RUNTIME_DIR/gputui/NAME/``, or ``gputui-UID/NAME/`` in the temporary directory::

    lock            held while the run lives: the kernel lets go of it however the run ends
    control.sock    takes inject, heal and status (chaos/real_time/control.py)
    run.json        what runs here
    n0/ ...         one directory a node, seen there as /run/gputui-node: the NVML library with its
                    page and sockets, look-alike commands (bin), log/kern.log

So a directory whose lock is free is a leftover, and is replaced. Runs are their user's; root finds
those of the user whose ``XDG_RUNTIME_DIR`` it was given.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import stat
import tempfile
import time
from pathlib import Path
from typing import Any

from chaos.errors import UsageError, did_you_mean, quoted

CONTROL = "control.sock"
TEST_NAME = re.compile(r"test-[0-9]+-[0-9]+")
"""Names of the runs of ``gpuchaos test``, which nobody else may see or control."""

_LOCK = "lock"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")
_LONGEST_SOCKET_PATH = 107
_TRIES = 5


def own_roots() -> tuple[Path, ...]:
    """Where runs of this user can be; new ones go to the first that serves."""
    places = []
    named = _runtime_directory()
    if named is not None and named.stat().st_uid == os.geteuid():
        places.append(named / "gputui")
    try:
        places.append(Path(tempfile.gettempdir()) / f"gputui-{os.geteuid()}")
    except FileNotFoundError as error:  # none can be written to
        if not places:
            raise UsageError(f"{error.strerror}: set XDG_RUNTIME_DIR.") from error
    return tuple(places)


def roots() -> tuple[Path, ...]:
    """Where to look for runs: this user's places, and for root those of whoever is named."""
    named = _runtime_directory()
    foreign = (named / "gputui",) if named is not None and os.geteuid() == 0 else ()
    return tuple(dict.fromkeys((*foreign, *own_roots())))


def _runtime_directory() -> Path | None:
    """The directory that XDG_RUNTIME_DIR names, if it is there."""
    named = os.environ.get("XDG_RUNTIME_DIR", "")
    try:
        return Path(named) if named and Path(named).is_dir() else None
    except OSError:
        return None


class RunDirectory:
    """The directory of a run, and the lock that makes it ours."""

    def __init__(self, name: str, path: Path, lock: int) -> None:
        self.name = name
        self.path = path
        self._lock = lock

    @property
    def control(self) -> Path:
        """Where the control socket goes."""
        return self.path / CONTROL

    def node(self, name: str) -> Path:
        """The directory of a node, which is made if need be."""
        directory = self.path / name
        (directory / "log").mkdir(parents=True, exist_ok=True)
        return directory

    def describe(self, facts: dict[str, Any]) -> None:
        """Write down what runs here."""
        path = self.path / "run.json"
        try:
            path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}.") from error

    def close(self) -> None:
        """Remove everything, and give the name back."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def claim(name: str) -> RunDirectory:
    """Make a name ours. One that a living run has is an error; a leftover is replaced."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{quoted(name)} is no name for a run: up to 32 letters, digits, dots, dashes, "
            "underscores."
        )
    root = _root_for_new()
    path = root / name
    if len(os.fsencode(path / CONTROL)) > _LONGEST_SOCKET_PATH:
        raise UsageError(
            f"{path / CONTROL} is too long for a socket's path (at most {_LONGEST_SOCKET_PATH} "
            "bytes): set XDG_RUNTIME_DIR to a shorter directory, or take a shorter --name."
        )
    lock = _take(path, name)
    try:
        _clear(path)
    except OSError as error:
        os.close(lock)
        raise _leftover(path, error) from error
    return RunDirectory(name, path, lock)


def sweep_tests() -> None:
    """Remove what tests that were killed left behind; whose lock is held, lives."""
    for root in own_roots():
        for path in root.glob(f"*/{_LOCK}"):
            if not TEST_NAME.fullmatch(path.parent.name):
                continue
            try:
                lock = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            else:
                shutil.rmtree(path.parent, ignore_errors=True)
            finally:
                os.close(lock)


def _take(path: Path, name: str) -> int:
    """Lock a run's directory, which is made if need be; the lock's descriptor."""
    while True:
        _own(path)
        try:
            lock = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _leftover(path, error) from error
        if not _lock(lock):
            os.close(lock)
            raise UsageError(
                f"a fake node named '{name}' is running already: take another --name, "
                "or end that one."
            )
        if _is_at(lock, path / _LOCK):
            return lock
        os.close(lock)  # its owner removed it between our open and our lock


def _clear(path: Path) -> None:
    """Remove what an earlier run left in its directory, all but the lock."""
    for leftover in path.iterdir():
        if leftover.is_dir() and not leftover.is_symlink():
            shutil.rmtree(leftover)
        elif leftover.name != _LOCK:
            leftover.unlink()


def _leftover(path: Path, error: OSError) -> UsageError:
    at = f"{error.filename}: " if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
        return UsageError(f"{at}{error.strerror}: set XDG_RUNTIME_DIR to another directory.")
    return UsageError(
        f"{path} holds something that cannot be replaced ({at}{error.strerror}): remove it, or "
        "take another --name."
    )


def _root_for_new() -> Path:
    """The first place of this user's from which a library can be loaded."""
    for root in own_roots():
        _own(root)
        if not os.statvfs(root).f_flag & os.ST_NOEXEC:
            return root
    listed = " and ".join(map(str, own_roots()))
    raise UsageError(
        f"{listed}: mounted noexec, so that no library can be loaded from there: set "
        "XDG_RUNTIME_DIR to a directory on another file system."
    )


def running() -> dict[str, Path]:
    """The directories of the living runs of this user, by name, but for those of tests."""
    found: dict[str, Path] = {}
    for root in roots():
        for path in sorted(root.glob(f"*/{_LOCK}")):
            name = path.parent.name
            if name not in found and not TEST_NAME.fullmatch(name) and _is_held(path):
                found[name] = path.parent
    return found


def find(name: str | None) -> Path:
    """The directory of a living run: the one of that name, or the only one."""
    found = running()
    if not found:
        raise UsageError("no fake node is running: start one with 'gpuchaos node h100-sxm'.")
    if name is None and len(found) > 1:
        names = ", ".join(found)
        raise UsageError(f"several fake nodes are running ({names}): choose one with --node NAME.")
    if name is not None and name not in found:
        raise UsageError(
            f"no fake node named {quoted(name)} is running{did_you_mean(name, found, 'Running')}"
        )
    return found[name] if name is not None else next(iter(found.values()))


def _own(path: Path) -> None:
    """Make a directory that is this user's alone, or make sure that it is."""
    try:
        path.mkdir(mode=0o700, exist_ok=True, parents=True)
        facts = path.lstat()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}: set XDG_RUNTIME_DIR.") from error
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid():
        raise UsageError(
            f"{path} belongs to somebody else: remove it, or set XDG_RUNTIME_DIR to a directory "
            "of your own."
        )
    if stat.S_IMODE(facts.st_mode) & 0o777 != 0o700:
        path.chmod(0o700)


def _lock(descriptor: int) -> bool:
    """Take a lock. Somebody who only looks holds it for a moment, so that is tried again."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02)
        else:
            return True
    return False


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(descriptor)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def _is_held(lock: Path) -> bool:
    """Whether somebody holds a lock."""
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
