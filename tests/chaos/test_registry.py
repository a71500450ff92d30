from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from chaos.errors import UsageError
from chaos.real_time import registry
from chaos.real_time.control import ask


@pytest.fixture(autouse=True)
def runtime(monkeypatch):
    """A runtime directory of the test's own, with a short path."""
    with tempfile.TemporaryDirectory(prefix="gt-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        monkeypatch.setattr(
            "chaos.real_time.registry.tempfile", SimpleNamespace(gettempdir=lambda: folder)
        )
        yield Path(folder)


def test_a_run_has_a_directory_of_its_own_until_it_ends(runtime):
    """Closed to others, and gone afterwards."""
    run = registry.claim("drill")
    assert run.path == runtime / "gputui/drill"
    assert run.path.stat().st_mode & 0o777 == 0o700
    run.node("n0")
    run.describe({"name": "drill"})
    run.close()
    assert list((runtime / "gputui").iterdir()) == []


def test_a_name_serves_one_living_run_at_a_time():
    """A second claim of a name is refused; after the end it is free again."""
    run = registry.claim("drill")
    with pytest.raises(UsageError, match="a fake node named 'drill' is running already"):
        registry.claim("drill")
    other = registry.claim("other")
    run.close()
    registry.claim("drill").close()
    other.close()


def test_what_a_killed_run_left_is_replaced(runtime):
    """A directory whose lock is free is a leftover, stale socket and all."""
    left = runtime / "gputui/drill"
    (left / "n0/log").mkdir(parents=True)
    (left / "lock").touch()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(left / "control.sock"))
    (left / "run.json").write_text("{}")
    (left / "away").symlink_to(runtime)

    assert registry.running() == {}
    run = registry.claim("drill")
    assert [path.name for path in run.path.iterdir()] == ["lock"]
    run.close()
    assert runtime.is_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's directory")
def test_another_users_directory_is_refused(runtime):
    """What belongs to somebody else is neither used nor replaced."""
    foreign = runtime / "gputui"
    foreign.mkdir()
    os.chown(foreign, 65534, 65534)
    with pytest.raises(UsageError, match="gputui belongs to somebody else"):
        registry.claim("drill")


def test_a_link_in_the_place_of_a_directory_is_refused(runtime, tmp_path):
    """A link could lead anywhere."""
    (runtime / "gputui").mkdir(mode=0o700)
    (runtime / "gputui/drill").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="drill belongs to somebody else"):
        registry.claim("drill")


def test_a_directory_open_to_others_is_closed(runtime):
    """Ours, but readable by all: it is made private."""
    (runtime / "gputui").mkdir(mode=0o755)
    registry.claim("drill").close()
    assert (runtime / "gputui").stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can")
def test_root_finds_the_runs_of_the_user_it_was_pointed_to(runtime, tmp_path, monkeypatch):
    """Root, given a user's XDG_RUNTIME_DIR, finds what runs there, and makes nothing there."""
    run = registry.claim("drill")
    for path in (runtime, runtime / "gputui", run.path, run.path / "lock"):
        os.chown(path, 65534, 65534)

    assert registry.find(None) == run.path
    other = registry.claim("other")
    assert other.path.parent == runtime / "gputui-0"
    assert set(registry.running()) == {"drill", "other"}
    other.close()
    run.close()


def test_a_lock_that_is_no_file_is_named(runtime):
    """What cannot be replaced is named, with the remedy."""
    (runtime / "gputui/drill/lock").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"drill holds .*lock: Is a directory\): remove it"):
        registry.claim("drill")


@pytest.mark.skipif(os.geteuid() == 0, reason="root opens and removes everything")
@pytest.mark.parametrize("name", ["lock", "n0"])
def test_a_leftover_that_cannot_be_replaced_is_named(name, runtime):
    """A lock that cannot be opened, a directory that cannot be emptied."""
    left = runtime / "gputui/drill"
    (left / "n0").mkdir(parents=True)
    (left / "n0/page").touch()
    (left / "lock").touch()
    (left / name).chmod(0o500 if name == "n0" else 0)
    with pytest.raises(UsageError, match=r"drill holds .*: Permission denied\): remove it"):
        registry.claim("drill")
    (left / name).chmod(0o700)


def test_a_directory_closed_to_its_owner_is_opened(runtime):
    """The mode of a directory of ours is no obstacle; to root it never is, but it is mended."""
    (runtime / "gputui/drill").mkdir(parents=True)
    (runtime / "gputui/drill").chmod(0)
    with contextlib.closing(registry.claim("drill")):
        assert (runtime / "gputui/drill").stat().st_mode & 0o777 == 0o700


def test_without_any_temporary_directory_the_named_one_serves(runtime, monkeypatch):
    """A full /tmp is in nobody's way who has XDG_RUNTIME_DIR, and is named to whoever has not."""

    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr("chaos.real_time.registry.tempfile", SimpleNamespace(gettempdir=none))
    registry.claim("drill").close()
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    with pytest.raises(UsageError, match="No usable temporary directory found: set XDG_RUNTIME"):
        registry.claim("drill")


def test_a_path_too_long_for_sockets_is_refused(runtime, monkeypatch):
    """A socket's path has 107 bytes; the remedy is named."""
    deep = runtime / ("d" * 100)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    with pytest.raises(UsageError, match=r"is too long for a socket's path .* XDG_RUNTIME_DIR"):
        registry.claim("drill")


@pytest.mark.parametrize("name", ["", "a/b", "..", ".hidden", "x" * 33, "a b", "-x"])
def test_a_name_that_is_no_file_name_is_refused(name):
    """A name becomes a directory's."""
    with pytest.raises(UsageError, match="is no name for a run"):
        registry.claim(name)


def test_without_a_runtime_directory_the_temporary_one_serves(runtime, monkeypatch):
    """A session without XDG_RUNTIME_DIR finds a place, and finds what runs there."""
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    run = registry.claim("drill")
    assert run.path == runtime / f"gputui-{os.geteuid()}/drill"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    assert registry.find(None) == run.path
    run.close()


def test_the_only_run_is_found_without_a_name():
    """None, one, several, and one that does not run."""
    with pytest.raises(UsageError, match="no fake node is running: start one with 'gpuchaos node"):
        registry.find(None)
    drill = registry.claim("drill")
    assert registry.find(None) == drill.path
    other = registry.claim("other")
    with pytest.raises(UsageError, match=r"several fake nodes are running \(drill, other\)"):
        registry.find(None)
    assert registry.find("other") == other.path
    with pytest.raises(
        UsageError, match=r"no fake node named 'dril' is running\. Did you mean 'dr"
    ):
        registry.find("dril")
    drill.close()
    other.close()


def test_a_run_that_does_not_answer_is_said_so(monkeypatch):
    """A simulator that was stopped keeps nobody waiting for ever."""
    monkeypatch.setattr("chaos.real_time.control._PATIENCE_S", 0.1)
    run = registry.claim("drill")
    with pytest.raises(UsageError, match="'drill' has just ended"):
        ask(run.path, {"do": "status"})
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(run.control))
        mute.listen()
        with pytest.raises(UsageError, match="'drill' does not answer: perhaps it was stopped"):
            ask(run.path, {"do": "status"})
    run.close()


def test_what_killed_tests_left_is_swept_and_living_tests_are_nobody_elses(runtime):
    """A test's directory goes when its lock is free; no other command finds a test."""
    living = registry.claim("test-1-0")
    dead = runtime / "gputui/test-2-0"
    other = runtime / "gputui/drill"
    for path in (dead, other):
        path.mkdir()
        (path / "lock").touch()
    registry.sweep_tests()
    assert living.path.exists()
    assert other.exists()
    assert not dead.exists()
    assert registry.running() == {}
    living.close()
