"""The first process of a fake node: ``python -m chaos.sandbox.init``.

It makes the node's namespaces, puts the node's files over the machine's, starts the processes that
stand for jobs, and reaps whatever ends. It takes orders as JSON lines on its standard input, a
socket, and tells what happened the same way:

* first, ``{"node", "tier", "user", "root"}`` (plan.py tells of the root); the answer is
  ``{"ready": PID, "users": DESCRIPTOR}``, its PID as the machine sees it and its handle on the user
  namespace of the node's programs (-1: none), or ``{"refused": WHY}``;
* ``{"spawn": WORDS, "program", "directory", "environment", "pid", "user", "output", "devices"}``:
  ``{"spawned": PID}`` or ``{"failed": WHY}``. It runs as user number ``user`` (-1: ours), writes to
  the file ``output``, and holds ``devices``;
* ``{"kill": PID}``: no answer; ``{"leave": PID}``: the same, but it is not reaped before it is
  killed once more;
* ``{"sweep": PIDS}``: no answer; ends every process of the node but those and this one;
* at any time, of a process that it spawned: ``{"exited": PID, "status"}``.

When the socket ends, so does the node: a simulator killed in whatever way leaves no process behind.
With namespaces the kernel sees to that, for everything in the PID namespace; without them ("tier"
is "environment") this program ends its own children. It imports little, to start fast.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

from chaos.sandbox import kernel
from chaos.sandbox.kernel import CLONE_NEWNS
from chaos.sandbox.lines import Lines
from chaos.sandbox.namespaces import become_powerless, new_namespaces, new_network, new_view
from chaos.sandbox.plan import Root
from chaos.sandbox.root import build

_GRACE_S = 0.3
_MOST_PIDS = 8192
_OWN_LIMIT_SINCE = (6, 14)
_SWEEPS = 1000
"""How often to look for processes that were started meanwhile."""
_LAST_PID = "/proc/sys/kernel/ns_last_pid"


class Programs(NamedTuple):
    """Where the node's programs live: descriptors of their user namespace (-1: ours) and view."""

    users: int
    view: int


class Init:
    """The node's first process at work. ``programs`` None: there are no namespaces."""

    def __init__(self, orders: Lines, programs: Programs | None) -> None:
        self._orders = orders
        self._programs = programs
        self._children: set[int] = set()
        self._undead: set[int] = set()
        self._lifeline, self._held = os.pipe()
        self._woken, wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Take orders until there are no more to come, and end the node."""
        while True:
            ready, _, _ = select.select([self._orders.fileno(), self._woken], [], [])
            if self._woken in ready:
                os.read(self._woken, 4096)
                self._reap()
            if self._orders.fileno() in ready:
                orders = self._orders.receive()
                if orders is None:
                    break
                for order in orders:
                    self._obey(order)
        self._end()

    def _obey(self, order: dict[str, Any]) -> None:
        if "spawn" in order:
            try:
                pid = self._spawn(order)
            except OSError as error:
                self._orders.send({"failed": str(error)})
            else:
                self._orders.send({"spawned": pid})
        elif "sweep" in order:
            self._sweep({os.getpid(), *order["sweep"]})
        elif order.get("leave") in self._children:
            self._undead.add(order["leave"])
            os.kill(order["leave"], signal.SIGKILL)
        elif order.get("kill") in self._children:
            os.kill(order["kill"], signal.SIGKILL)
            if order["kill"] in self._undead:
                self._undead.discard(order["kill"])
                self._reap()

    def _spawn(self, order: dict[str, Any]) -> int:
        """Start a program under any words, with a PID of choice where that can be had."""
        child = _fork_as(order["pid"] if self._programs else 0)
        if child == 0:
            try:
                signal.set_wakeup_fd(-1)
                for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
                    signal.signal(number, signal.SIG_DFL)
                os.setsid()
                output = os.open(order["output"], os.O_WRONLY | os.O_APPEND)
                os.dup2(self._lifeline, 0)
                os.dup2(output, 1)
                os.dup2(output, 2)
                if self._programs:
                    _settle(self._programs, order["user"], order["devices"])
                os.chdir(order["directory"])
                os.execve(order["program"], order["spawn"], order["environment"])
            finally:
                os._exit(127)
        self._children.add(child)
        return child

    def _sweep(self, keep: set[int]) -> None:
        """End every other process: stop them first, for who is stopped starts no more."""
        if self._programs is None:
            return
        stopped: set[int] = set()
        for _ in range(_SWEEPS):
            found = set(_processes()) - keep - stopped
            if not found:
                break
            _signal(found, signal.SIGSTOP)
            stopped |= found
        _signal(stopped, signal.SIGKILL)
        self._reap()

    def _reap(self) -> None:
        for wanted in self._ended():
            try:
                pid, status = os.waitpid(wanted, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self._children:
                self._children.discard(pid)
                self._tell({"exited": pid, "status": os.waitstatus_to_exitcode(status)})

    def _ended(self) -> Iterator[int]:
        """Whom to wait for: anybody, or one after the other where some are to stay as they are."""
        if not self._undead:
            yield from repeat(-1)
        yield from (pid for pid in _zombies() if pid not in self._undead)

    def _tell(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # nobody listens: the socket's end is read next
            self._orders.send(message)

    def _end(self) -> None:
        """Ask every process of the node to end; whoever stays ends with this one."""
        if self._programs is None:
            for pid in self._children:
                os.kill(pid, signal.SIGKILL)
            for pid in self._children:
                os.waitpid(pid, 0)
            return
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCONT):
            try:
                os.kill(-1, number)
            except ProcessLookupError:
                return
        until = time.monotonic() + _GRACE_S
        while time.monotonic() < until:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    time.sleep(0.01)
            except ChildProcessError:
                return


def _limit_processes() -> None:
    """Let the node have no more processes than PIDs up to a limit, where that is its own.

    It is a PID namespace's own since Linux 6.14; before, it would be the machine's.
    """
    version = tuple(int(part) for part in os.uname().release.split(".")[:2] if part.isdecimal())
    if version >= _OWN_LIMIT_SINCE:
        with contextlib.suppress(OSError):
            Path("/proc/sys/kernel/pid_max").write_text(f"{_MOST_PIDS}", encoding="ascii")


def _processes() -> list[int]:
    """The PIDs of all processes of the node."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def _signal(pids: set[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _zombies() -> list[int]:
    """The children of this process that have ended (proc_pid_stat(5))."""
    parent, found = str(os.getpid()), []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            pid = int(entry.name)
            state, its_parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            if state == "Z" and its_parent == parent:
                found.append(pid)
    return found


def _fork_as(pid: int) -> int:
    """Fork, to a PID of choice where the kernel allows that (0: whichever comes)."""
    before = _set_last_pid(pid - 1) if pid else 0
    child = os.fork()
    if child and before:
        _set_last_pid(before)
    return child


def _set_last_pid(last: int) -> int:
    """Let the kernel believe that it gave out ``last`` last; what it was, or 0 if it refuses."""
    try:
        descriptor = os.open(_LAST_PID, os.O_RDWR)
    except OSError:
        return 0
    try:
        before = int(os.read(descriptor, 16))
        os.pwrite(descriptor, str(last).encode(), 0)
        return before
    except OSError:
        return 0
    finally:
        os.close(descriptor)


def _settle(programs: Programs, user: int, devices: list[str]) -> None:
    """Be one of the node's programs: in its view, under a user, and holding device files."""
    kernel.setns(programs.view, CLONE_NEWNS)
    become_powerless(programs.users)
    for path in devices:
        os.set_inheritable(os.open(path, os.O_PATH), True)
    if user >= 0:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)


def _set_up(node: str, root: Root, *, user: bool) -> tuple[int, Programs]:
    """Make this process's namespaces the node's; its own PID as the machine sees it."""
    outside = int(Path("/proc/self").readlink().name)
    os.umask(0o022)
    socket.sethostname(node)
    kernel.make_mounts_private()
    kernel.mount("proc", "/proc", kernel.NO_SETUID | kernel.NO_DEVICES | kernel.NO_PROGRAMS)
    _limit_processes()
    users = new_network(user=user)
    build(root)
    return outside, Programs(users, new_view(root.staging, users))


def _refuse(orders: Lines, error: OSError) -> int:
    where = f"{error.filename}: " if error.filename else ""
    orders.send({"refused": f"{where}{error.strerror}"})
    return 1


def main() -> int:
    """Be a node's first process, by the orders on standard input."""
    orders = Lines(socket.socket(fileno=os.dup(0)))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.chdir("/")
    first = orders.receive()
    if not first:
        return 0
    plan = first[0]
    if plan["tier"] != "namespaces":
        orders.send({"ready": os.getpid()})
        Init(orders, None).serve()
        return 0
    try:
        new_namespaces(user=plan["user"])
        child = os.fork()
    except OSError as error:
        return _refuse(orders, error)
    if child != 0:
        # The simulator waits for this process; it waits for the first process inside.
        orders.close()
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF
    try:
        pid, programs = _set_up(plan["node"], Root.from_json(plan["root"]), user=plan["user"])
    except OSError as error:
        return _refuse(orders, error)
    orders.send({"ready": pid, "users": programs.users})
    Init(orders, programs).serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
