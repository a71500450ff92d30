"""Puts a node's root directory together, from inside the node's first process. Imports little.

The machine's whole tree is copied, and read-only before anybody sees it; then what is the node's
own is put over it: /dev, /proc, /sys, empty places to write to, empty places where the machine has
its sockets, and the files of the node. Programs get copies of these mounts in a user namespace
below ours, where the kernel keeps them from taking any of it away (mount_namespaces(7)).

Whatever is mounted here is mounted in a changed root, so that a symbolic link of the machine leads
to where it leads on the node.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from chaos.sandbox import kernel
from chaos.sandbox.kernel import NO_DEVICES, NO_PROGRAMS, NO_SETUID, READ_ONLY
from chaos.sandbox.plan import NODE, Bind, Fresh, Graft, Layer, Place, Root

CONSOLE = "/dev/console"
"""Where a program finds the terminal that it was given."""

GPU_DEVICES = ("nvidiactl", "nvidia-uvm")
"""What every process on a GPU holds beside the GPU's own device file."""

_MACHINE = READ_ONLY | NO_SETUID | NO_DEVICES
_OWN = NO_SETUID | NO_DEVICES
_SHARED_MEMORY = "mode=1777,size=16g"
"""As much on every machine; it is no more than a limit."""
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
_SMALL_BYTES = 64 << 10

_ENTRIES = "/run/gputui-entries"
"""Where the entries of a directory are kept that could not be layered by an overlay."""


def build(root: Root) -> None:
    """Put the root together on ``root.staging``; this process sees the machine as before."""
    kernel.make_mounts_private()
    kernel.mount("tmpfs", root.memory, _OWN, "mode=755")
    _furnish(root.memory, root.places)
    whole = kernel.copied("/", _MACHINE)
    devices = {
        name: copied_device(f"/dev/{name}") for name in _DEVICES if os.path.lexists(f"/dev/{name}")
    }
    binds = [(copied(bind), bind) for bind in root.binds]
    grafts = [(kernel.copied(graft.source, _OWN), graft) for graft in root.grafts]
    written = {
        bind: kernel.copied(_outside(bind, root), _OWN) for bind in root.own if bind.writable
    }
    kernel.attach(whole, root.staging)
    with _inside(root.staging):
        for place in sorted(root.fresh):
            _make_fresh(place, root.fresh)
        _make_dev(devices, root.devices)
        # Another one shows the node's own network; where none is allowed, the machine's stays.
        with contextlib.suppress(OSError):
            kernel.mount("sysfs", "/sys", _MACHINE | NO_PROGRAMS)
        for tree, bind in binds:
            put(tree, bind)
        _make_proc(root)
        for number, layer in enumerate(root.layers):
            _lay(layer, number)
        for path in root.hidden:
            _hide(path, root)
        for bind in root.own:
            if os.path.lexists(bind.target):
                own = bind in written
                tree = written.pop(bind) if own else kernel.copied(bind.source, _MACHINE)
                kernel.attach(tree, bind.target)
        for tree in written.values():
            os.close(tree)
        for tree, graft in grafts:
            _graft(tree, graft)


def _outside(bind: Bind, root: Root) -> str:
    """Where a node's own file lies as the machine sees it: inside it could not be written."""
    return f"{Path(root.memory).parent}{bind.source.removeprefix(NODE)}"


def copied(bind: Bind) -> int:
    """The mounts of a bind's source, as a descriptor."""
    return kernel.copied(bind.source, _OWN if bind.writable else _MACHINE)


def copied_device(path: str) -> int:
    """A device file that can be opened, as a descriptor; its mode cannot be changed."""
    return kernel.copied(path, READ_ONLY | NO_SETUID | NO_PROGRAMS)


def put(tree: int, bind: Bind) -> None:
    """Put copied mounts where a bind wants them; in a fresh place the target is made."""
    place = Path(bind.target)
    if not os.path.lexists(place):
        if stat.S_ISDIR(os.fstat(tree).st_mode):
            place.mkdir(parents=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
    kernel.attach(tree, bind.target)


def _furnish(folder: str, places: Sequence[Place]) -> None:
    """Make the node's own directories and files, in the order of their paths."""
    for path, text in sorted(places):
        place = f"{folder}/{path}"
        if text is None:
            Path(place).mkdir(parents=True, exist_ok=True)
            continue
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).write_text(text, encoding="utf-8", errors="surrogateescape")


@contextmanager
def _inside(directory: str) -> Iterator[None]:
    """Let a directory be this process's root for a while."""
    before = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    os.chroot(directory)
    os.chdir("/")
    try:
        yield
    finally:
        os.fchdir(before)
        os.chroot(".")
        os.close(before)


def _make_fresh(place: Fresh, places: Sequence[Fresh]) -> None:
    """An empty directory, on a file system of its own unless it lies within another such place."""
    if any(place.path.startswith(f"{other.path}/") for other in places):
        Path(place.path).mkdir(parents=True, exist_ok=True)
        Path(place.path).chmod(place.mode)
    else:
        kernel.mount("tmpfs", place.path, _OWN, f"mode={place.mode:o}")
    if place.owner >= 0:
        os.chown(place.path, place.owner, place.owner)


def _make_dev(devices: dict[str, int], own: Sequence[str]) -> None:
    """What every program needs, terminals of the node's own, and the GPUs' device files.

    Those of the GPUs lead nowhere (device 0,0, which any user may make): opening them fails. But
    they can be held, so that fuser(1) and lsof(8) find who is on a GPU.
    """
    dev = Path("/dev")
    kernel.mount("tmpfs", "/dev", NO_SETUID | NO_PROGRAMS, "mode=755")
    for name, tree in devices.items():
        put(tree, Bind("", f"/dev/{name}"))
    for name, target in _LINKS.items():
        (dev / name).symlink_to(target)
    (dev / "pts").mkdir()
    kernel.mount(
        "devpts", "/dev/pts", NO_SETUID | NO_PROGRAMS, "newinstance,ptmxmode=0666,mode=620"
    )
    (dev / "shm").mkdir()
    kernel.mount("tmpfs", "/dev/shm", _OWN, _SHARED_MEMORY)
    Path(CONSOLE).touch()
    for name in own:
        (dev / name).parent.mkdir(parents=True, exist_ok=True)
        os.mknod(dev / name, stat.S_IFCHR)
        (dev / name).chmod(0o666)


def _make_proc(root: Root) -> None:
    """The node's processes. What is not a process's is read-only, or hidden where it is secret.

    Root's user number is root's outside too, and file modes are all that guards /proc/sys.
    """
    kernel.mount("proc", "/proc", NO_SETUID | NO_DEVICES | NO_PROGRAMS)
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() or entry.is_symlink():
            continue
        path, mode = str(entry), entry.stat().st_mode
        if stat.S_ISDIR(mode):
            kernel.attach(kernel.copied(path, _MACHINE | NO_PROGRAMS), path)
        elif mode & 0o222 or not mode & 0o004:
            kernel.attach(kernel.copied(root.nobody, READ_ONLY), path)


def _hide(path: str, root: Root) -> None:
    """Let a path show nothing, if it exists."""
    if Path(path).is_dir():
        kernel.attach(kernel.copied(root.empty, _MACHINE), path)
    elif os.path.lexists(path):
        kernel.attach(kernel.copied(root.nobody, _MACHINE), path)


def _graft(tree: int, graft: Graft) -> None:
    """Put the node's own directory over one of the machine's, whose entries it links to."""
    beneath = Path(graft.beneath)
    beneath.mkdir(parents=True)
    kernel.attach(kernel.copied(graft.target, _MACHINE), graft.beneath)
    kernel.attach(tree, graft.target)
    for inner in ("", *graft.inner):
        own, machines = Path(graft.target, inner), beneath / inner
        if own.is_symlink():
            own.unlink()
        own.mkdir(exist_ok=True)
        for entry in machines.iterdir() if machines.is_dir() else ():
            if not os.path.lexists(own / entry.name):
                _take_over(entry, own / entry.name)


def _take_over(entry: Path, place: Path) -> None:
    """Copy a small file that everybody may read, so that it can be changed; link to others."""
    facts = entry.lstat()
    is_plain = stat.S_ISREG(facts.st_mode) and facts.st_mode & 0o004
    if is_plain and facts.st_size <= _SMALL_BYTES:
        place.write_bytes(entry.read_bytes())
        place.chmod(stat.S_IMODE(facts.st_mode) & 0o777)
    elif stat.S_ISLNK(facts.st_mode):
        # One that leads beside itself leads to what the node has there.
        place.symlink_to(entry.readlink())
    else:
        place.symlink_to(entry)


def _lay(layer: Layer, number: int) -> None:
    """Lay a directory over another by an overlay, or by links where overlays are refused."""
    source, target = layer
    try:
        kernel.mount("overlay", target, _MACHINE, f"lowerdir={source}:{target}")
    except OSError:
        beneath = Path(_ENTRIES, str(number))
        beneath.mkdir(parents=True)
        kernel.attach(kernel.copied(target, _MACHINE), str(beneath))
        kernel.mount("tmpfs", target, _OWN, "mode=755")
        entries = {
            path.name: path for folder in (beneath, Path(source)) for path in folder.iterdir()
        }
        for name, path in entries.items():
            Path(target, name).symlink_to(path)
        kernel.attach(kernel.copied(target, _MACHINE), target)
