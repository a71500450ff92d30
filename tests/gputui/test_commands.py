"""Commands of gputui: one a file, found by themselves."""

import shutil
import subprocess
import sys
from pathlib import Path

import gputui
from gputui.commands import command_names

COMMAND = '''
"""A command of a stranger's."""

def run(arguments):
    print("hello", *arguments)
    return 0
'''


def test_a_new_command_is_a_new_file(tmp_path):
    """Nothing else lists the commands."""
    shutil.copytree(
        Path(gputui.__file__).parent,
        tmp_path / "gputui",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (tmp_path / "gputui" / "commands" / "hello.py").write_text(COMMAND)
    done = subprocess.run(
        [sys.executable, "-m", "gputui", "hello", "world"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "hello world\n")


def test_what_helps_commands_is_none():
    """Modules beside them, and the package itself, cannot be asked for."""
    assert {"scan", "explain", "config"} <= set(command_names())
    assert not {"parser", "__init__"} & set(command_names())


def test_a_command_that_there_is_not_is_told_with_what_was_meant():
    """In one line, as bad usage."""
    done = subprocess.run(
        [sys.executable, "-m", "gputui", "scann"],
        cwd=Path(gputui.__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 64
    assert 'no command "scann"; did you mean scan?' in done.stderr
    assert done.stderr.count("\n") == 1
