"""Making the library: found, built once, rebuilt when its sources change, or a clear error."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.nvml.shim import build

ROOT = Path(__file__).parents[3]


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # Whatever lies beside the sources is not looked at.
    monkeypatch.setattr(build, "NAME", "_fakenvml_test.so")
    return tmp_path / "cache"


def test_the_library_is_built_once_into_the_cache(library: Path, cache: Path) -> None:
    """The first call compiles, the second finds; the name is made from the sources."""
    built = build.library()
    assert built is not None and cache in built.parents
    assert build.digest() in built.parent.name
    written = built.stat().st_mtime_ns
    assert build.library() == built and built.stat().st_mtime_ns == written
    assert not [path for path in built.parent.iterdir() if path != built]


def test_a_missing_compiler_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a compiler there is no library, and the error says what to install or set."""
    monkeypatch.setenv("CC", "no-such-compiler")
    assert build.library() is None
    with pytest.raises(build.NoCompilerError, match=r"no-such-compiler.*install one"):
        build.require()
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(build.NoCompilerError, match="cc, gcc and clang"):
        build.require()


def test_a_compiler_that_fails_is_quoted(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What the compiler said of the sources is in the error, and no half library is left."""
    broken = tmp_path / "broken-cc"
    broken.write_text(
        '#!/bin/sh\ncase "$*" in\n'
        "*fakenvml.c*) echo 'fakenvml.c:1: error: out of coffee' >&2; exit 1;;\n"
        '*) for last; do :; done; : > "$last";;\nesac\n'
    )
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.raises(build.CompileError, match=r"library: exit status 1: .*out of coffee"):
        build.require()
    assert not list(cache.rglob("*.so"))


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("#!/bin/sh\nexit 3\n", r"compiles nothing \(exit status 3\): install one"),
        ("#!/bin/sh\necho 'stdio.h: none' >&2; exit 1\n", r"\(exit status 1: stdio.h: none\)"),
        ("#!/bin/sh\n", r"compiles nothing \(it writes no output\)"),
        ("#!/no/such/interpreter\n", r"compiles nothing \(No such file or directory\)"),
    ],
)
def test_a_compiler_that_compiles_nothing_is_none(
    script: str, reason: str, cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What fails on the smallest program too is no compiler; the error says how it failed."""
    broken = tmp_path / "broken-cc"
    broken.write_text(script)
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.raises(build.NoCompilerError, match=reason) as caught:
        build.require()
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_cache_that_cannot_be_looked_into_is_named(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The error says what could not be read, and how to name another place."""
    (tmp_path / "closed").mkdir(mode=0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "closed"))
    with pytest.raises(build.CompileError, match=r"read: .*closed.*: Permission.*XDG_CACHE_HOME"):
        build.require()


def test_a_user_without_a_home_is_told_what_to_set(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is no home there is no cache by itself."""

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(build.Path, "home", no_home)
    with pytest.raises(build.CompileError, match=r"no home: XDG_CACHE_HOME"):
        build.require()


def test_a_cache_that_is_no_directory_is_named(
    library: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says where it could not be written, and how to name another place."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(build.CompileError, match=r"cannot be written to .*file.*XDG_CACHE_HOME"):
        build.require()


def test_the_sources_compile_without_warnings(library: Path, tmp_path: Path) -> None:
    """Every compiler that is here takes the sources without a word."""
    found = [name for name in ("gcc", "clang") if shutil.which(name)] or ["cc"]
    sources = sorted(str(path) for path in (ROOT / "fakes/nvml/shim").glob("*.c"))
    for name in found:
        command = [name, "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", '-DSOURCES="x"']
        done = subprocess.run(
            [*command, "-o", str(tmp_path / "lib.so"), *sources, "-ldl", "-pthread"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), name


def test_a_wheel_brings_the_library(library: Path, tmp_path: Path) -> None:
    """A wheel built where there is a compiler has the library in it, and says which platform."""
    pytest.importorskip("hatchling", reason="needs hatchling in the test's environment")
    tree = tmp_path / "tree"
    ignore = shutil.ignore_patterns(
        ".git", ".venv", ".cache", ".hypothesis", "*.so", "__pycache__", "dist", ".*_cache"
    )
    shutil.copytree(ROOT, tree, ignore=ignore)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "out")],
        check=True,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": ""},
    )
    (wheel,) = (tmp_path / "out").iterdir()
    assert "-py3-none-linux_" in wheel.name
    listing = subprocess.check_output(
        [sys.executable, "-m", "zipfile", "-l", str(wheel)], text=True
    )
    assert "fakes/nvml/shim/_fakenvml.so" in listing
