from __future__ import annotations

import subprocess


def test_two_demos_at_once_are_two_nodes(me):
    """One user may look at a demo twice; each is a run of its own, and ends with its program."""
    demos = [
        subprocess.Popen(
            [me.python, "-m", "gputui", "--demo", "--once", "--brief"],
            cwd=me.cwd,
            env=me.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for demo in demos:
        out, err = demo.communicate(timeout=60)
        assert (demo.returncode, out[:3]) == (0, "n0 "), err
