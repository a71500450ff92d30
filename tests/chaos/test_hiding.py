"""What of the machine is empty, hidden or covered on a node, and who there is."""

from __future__ import annotations

import os
import socket
import tempfile
from pathlib import Path

from chaos.sandbox import covers, hiding, people
from chaos.sandbox.covers import machine_libraries, machine_programs
from chaos.sandbox.hiding import fresh_places, hidden_paths, sockets_in_use
from chaos.sandbox.people import files, user_numbers


def paths(environ: dict[str, str]) -> list[str]:
    return [place.path for place in fresh_places(environ)]


def test_homes_and_temporary_places_are_empty(tmp_path):
    """The system's, and those that the environment names; a link is followed."""
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to("home")
    found = paths({"HOME": str(tmp_path / "link"), "XDG_RUNTIME_DIR": str(tmp_path / "none")})
    assert str(tmp_path / "home") in found
    assert {"/tmp", "/run", str(Path(tempfile.gettempdir()).resolve())} <= set(found)
    assert str(tmp_path / "link") not in found
    assert str(tmp_path / "none") not in found


def test_a_root_directory_is_no_home(monkeypatch):
    """In containers HOME is often /; the system is not hidden for that."""
    monkeypatch.setattr(hiding, "_home_of_record", lambda: "/usr")
    found = paths({"HOME": "/"})
    assert "/" not in found
    assert "/usr" not in found


def test_a_place_for_all_stays_open_to_all():
    """HOME=/tmp makes /tmp nobody's own."""
    (tmp,) = (place for place in fresh_places({"HOME": "/tmp"}) if place.path == "/tmp")
    assert tmp.mode == 0o1777


def test_every_socket_that_is_in_use_is_found():
    """Listening or not, with a blank in its path; and hidden, unless its place is empty anyway."""
    with tempfile.TemporaryDirectory(prefix="gt ") as name:
        with (
            socket.socket(socket.AF_UNIX) as stream,
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagram,
        ):
            stream.bind(f"{name}/a stream")
            stream.listen()
            datagram.bind(f"{name}/datagram")
            own = {path for path in sockets_in_use() if path.startswith(name)}
            assert own == {f"{name}/a stream", f"{name}/datagram"}
            assert own <= set(hidden_paths([]))
            assert not own & set(hidden_paths(fresh_places({"XDG_RUNTIME_DIR": name})))
        left = [path for path in sockets_in_use() if path.startswith(name)]
        assert left == []


def test_libraries_are_found_where_the_linker_finds_them(tmp_path, monkeypatch):
    """In its cache, and in LD_LIBRARY_PATH; the file at the end of links, once."""
    (tmp_path / "cached").mkdir()
    (tmp_path / "named").mkdir()
    real = tmp_path / "cached/libnvidia-ml.so.535.1"
    real.write_text("")
    (tmp_path / "cached/libnvidia-ml.so.1").symlink_to(real.name)
    (tmp_path / "named/libnvidia-ml.so").write_text("")
    cache = tmp_path / "ld.so.cache"
    cache.write_bytes(b"glibc\0libm.so\0/lib/libm.so\0%s/libnvidia-ml.so.1\0" % bytes(real.parent))
    monkeypatch.setattr(covers, "_LINKER_CACHE", cache)
    found = machine_libraries({"LD_LIBRARY_PATH": f"/nowhere:{tmp_path}/named"})
    assert [path for path in found if path.is_relative_to(tmp_path)] == [
        real,
        tmp_path / "named/libnvidia-ml.so",
    ]


def test_programs_are_found_wherever_the_path_leads(tmp_path):
    """The file that a link leads to is what is covered."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "opt").mkdir()
    (tmp_path / "opt/nvidia-smi-535").write_text("")
    (tmp_path / "bin/nvidia-smi").symlink_to(tmp_path / "opt/nvidia-smi-535")
    found = machine_programs(["nvidia-smi", "dmesg"], {"PATH": f"{tmp_path}/bin"})
    own = [(name, path) for name, path in found if path.is_relative_to(tmp_path)]
    assert own == [("nvidia-smi", tmp_path / "opt/nvidia-smi-535")]


def test_users_of_jobs_are_added_and_replace_their_namesakes(tmp_path, monkeypatch):
    """One line a name; the others, and the caller, are who they were."""
    passwd, group = tmp_path / "passwd", tmp_path / "group"
    passwd.write_text("root:x:0:0:root:/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/zsh\n")
    group.write_text("root:x:0:\n")
    monkeypatch.setattr(people, "_PASSWD", passwd)
    monkeypatch.setattr(people, "_GROUP", group)
    found = files({"alice": 60801, "bob": 60802})
    lines = found["passwd"].splitlines()
    assert "root:x:0:0:root:/root:/bin/sh" in lines
    assert [line for line in lines if line.startswith(("alice:", "bob:"))] == [
        "alice:x:60801:60801::/home/alice:/bin/bash",
        "bob:x:60802:60802::/home/bob:/bin/bash",
    ]
    groups = found["group"].splitlines()
    assert groups[-2:] == ["alice:x:60801:", "bob:x:60802:"]


def test_only_root_can_give_jobs_users_of_their_own(monkeypatch):
    """And only where there are so many numbers; each name has one."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert user_numbers(["alice"]) == {}
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(people, "_may_use", lambda number: True)
    numbers = user_numbers(["alice", "bob", "alice"])
    assert list(numbers) == ["alice", "bob"]
    assert len(set(numbers.values())) == 2
    monkeypatch.setattr(people, "_may_use", lambda number: False)
    assert user_numbers(["alice"]) == {}
