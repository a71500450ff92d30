"""What a program brings along from the places that are empty on a node."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chaos.errors import UsageError
from chaos.sandbox.brought import brought


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home that is empty on a node, and the current directory somewhere else."""
    (tmp_path / "home").mkdir()
    monkeypatch.chdir("/")
    return tmp_path / "home"


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def targets(home: Path, *words: str, writable: tuple[Path, ...] = (), **environ: str) -> list[str]:
    """Where what a program brings is seen, as paths below the home."""
    binds = brought(words or ("true",), environ, [str(home)], writable=writable)
    places = [Path(bind.target) for bind in binds if Path(bind.target).is_relative_to(home)]
    return [str(place.relative_to(home)) for place in places]


def test_nothing_is_brought_for_nothing(home):
    """A system's program, called from the system's directory, needs nothing of a home."""
    assert targets(home, "/bin/true", PATH="/usr/bin:/bin") == []


def test_the_home_itself_is_never_brought(home, monkeypatch):
    """Neither as the current directory, nor by a path, nor as what lies around a repository."""
    (home / ".git").mkdir()
    monkeypatch.chdir(home)
    script = program(home / "script")
    assert targets(home, str(script), PATH=f"{home}:{home.parent}", PYTHONPATH=str(home)) == [
        "script"
    ]


def test_the_repository_around_the_current_directory_is_brought(home, monkeypatch):
    """So that a script finds what it calls by ``../``."""
    (home / "work/.git").mkdir(parents=True)
    (home / "work/runbooks").mkdir()
    (home / "other").mkdir()
    monkeypatch.chdir(home / "work/runbooks")
    assert targets(home) == ["work"]


def test_a_virtual_environment_comes_whole_and_with_its_python(home):
    """An environment on PATH, and the interpreter that it was made from (pyvenv.cfg)."""
    program(home / "python/3.11/bin/python3")
    program(home / "venv/bin/nvitop")
    (home / "venv/pyvenv.cfg").write_text(f"home = {home}/python/3.11/bin\nversion = 3.11\n")
    assert targets(home, "nvitop", PATH=f"{home}/venv/bin:/bin") == ["python/3.11", "venv"]


def test_of_other_directories_of_programs_their_libraries_come_too(home):
    """``~/.local``: bin and lib, not what applications keep in share."""
    program(home / ".local/bin/tool")
    (home / ".local/lib/python3.11").mkdir(parents=True)
    (home / ".local/share/keyrings").mkdir(parents=True)
    assert targets(home, PATH=f"{home}/.local/bin") == [".local/bin", ".local/lib"]


def test_links_and_interpreters_are_followed(home):
    """As pipx installs: a link to a script whose first line names a Python of its own."""
    venv = home / "pipx/venvs/nvitop"
    program(venv / "bin/python")
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\n")
    script = program(venv / "bin/nvitop", f"#!{venv}/bin/python -I\n")
    (home / "bin").mkdir()
    (home / "bin/nvitop").symlink_to(script)
    assert targets(home, "nvitop", PATH=f"{home}/bin") == ["bin", "pipx/venvs/nvitop"]


def test_links_in_a_circle_have_an_end(home):
    """A program that leads nowhere brings no more than its directory."""
    (home / "bin").mkdir()
    (home / "bin/a").symlink_to("b")
    (home / "bin/b").symlink_to("a")
    assert targets(home, "a", PATH=f"{home}/bin") == ["bin"]


def test_a_path_with_links_in_it_is_there_by_both_names(home):
    """What is called by a link's name is found by it, and where it leads to."""
    program(home / "disk/tools/bin/tool")
    (home / "tools").symlink_to(home / "disk/tools")
    assert targets(home, PATH=f"{home}/tools/bin") == ["disk/tools/bin", "tools/bin"]


def test_what_is_writable_is_so_inside_of_what_is_not(home, monkeypatch):
    """The current directory within its repository."""
    (home / "work/.git").mkdir(parents=True)
    (home / "work/here").mkdir()
    monkeypatch.chdir(home / "work/here")
    binds = brought(["true"], {}, [str(home)], writable=[Path()])
    found = [(bind.target, bind.writable) for bind in binds if str(home) in bind.target]
    assert found == [(f"{home}/work", False), (f"{home}/work/here", True)]


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("missing", "there is no such directory"),
        ("", "a node has a .*/home of its own: choose a directory below it"),
        ("..", "a node has a .* of its own"),
        ("/", "a node has a / of its own"),
    ],
)
def test_what_cannot_be_writable_is_said(home, path, problem):
    """A mistake, what is wrong with it, and what to do."""
    with pytest.raises(UsageError, match=problem):
        targets(home, writable=(home / path,))


@pytest.mark.skipif(os.geteuid() == 0, reason="root sees everything")
def test_what_the_caller_may_not_see_is_left_out(home):
    """A directory that is closed to the caller is no error."""
    program(home / "closed/bin/tool")
    (home / "closed").chmod(0)
    assert targets(home, PATH=f"{home}/closed/bin") == []
    (home / "closed").chmod(0o700)
