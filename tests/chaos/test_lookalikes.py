"""Look-alikes as programs call them: the little C program, the socket, and what comes back."""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chaos.fleet import Fleet, Given, build_world, training
from chaos.lookalikes.binding import Bindings
from chaos.lookalikes.server import CommandServer
from chaos.lookalikes.under_way import Scene
from chaos.sandbox.compiled import compiled
from fakes.clock import VirtualClock
from fakes.commands import registry
from fakes.driver.xid import raise_xid
from fakes.nvml.answer import FOREVER_US, Answer, Call, answer
from fakes.nvml.shim.build import LibraryError


@dataclass
class Ended:
    """A call that is over."""

    status: int
    out: str
    err: str


@dataclass
class Desk:
    """A node whose commands are answered, as the simulator's loop would; time is set by hand."""

    folder: Path
    server: CommandServer
    node: Any
    clock: VirtualClock
    notes: list[str]
    shown: list[int] = field(default_factory=list)

    def start(self, name: str, *argv: str, **given: Any) -> subprocess.Popen[bytes]:
        """Start a call; the program is a link to the one that stands for all."""
        program = self.folder / "bin" / name
        if not program.exists():
            program.hardlink_to(self.folder / "bin/lookalike")
        given = {"stdin": subprocess.DEVNULL, **given}
        return subprocess.Popen(
            [program, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **given
        )

    def turn(self, happened: bool = False) -> None:
        """One turn of the loop."""
        for key, _ in self.selector.select(0.02):
            key.data()
        if self.server.advance(self.clock.now_us(), happened=happened):
            self.shown.append(self.clock.now_us())
        self.server.settle()

    def until(self, true: Callable[[], object], timeout_s: float = 20) -> None:
        deadline = time.monotonic() + timeout_s
        while not true():
            assert time.monotonic() < deadline, "waited too long"
            self.turn()

    def end(self, call: subprocess.Popen[bytes]) -> Ended:
        """Serve until a call is over."""
        self.until(lambda: call.poll() is not None)
        out, err = call.communicate()
        return Ended(call.returncode, out.decode("utf-8", "surrogateescape"), err.decode())

    def call(self, name: str, *argv: str, **given: Any) -> Ended:
        return self.end(self.start(name, *argv, **given))

    @property
    def selector(self) -> selectors.BaseSelector:
        assert self.server._selector is not None
        return self.server._selector


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A desk on a node of two GPUs. Commands that a test registers are gone afterwards."""
    monkeypatch.setattr(registry, "_commands", dict(registry.commands()))
    monkeypatch.setattr("chaos.lookalikes.server.commands", lambda: registry._commands)
    try:
        program = compiled("lookalike")
    except LibraryError as error:
        pytest.skip(str(error))
    fleet, clock = Fleet(gpus=2), VirtualClock()
    world = build_world(Given(fleet, (training(fleet),)))
    node = world.nodes["n0"]
    notes: list[str] = []
    with tempfile.TemporaryDirectory(prefix="gt-") as name, selectors.DefaultSelector() as selector:
        folder = Path(name)
        (folder / "bin").mkdir()
        (folder / "bin/lookalike").write_bytes(program.read_bytes())
        (folder / "bin/lookalike").chmod(0o755)
        scene = Scene(node, world, clock.now_us, Bindings())
        server = CommandServer(folder, scene, {os.geteuid(): "carol"}, notes.append)
        server.register(selector)
        yield Desk(folder, server, node, clock, notes)
        server.close()


def test_a_call_arrives_as_it_was_made(desk, tmp_path):
    """Arguments, environment, directory and user, whatever bytes are in them."""
    seen: dict[str, Any] = {}

    @registry.command("ask", latency_us=0)
    def main(argv, env, cwd, user, program, columns, out, err) -> int:
        seen.update(argv=argv, env=env, cwd=cwd, user=user, program=program, columns=columns)
        out.write("out é\udcff\n")
        err.write("err\n")
        return 7

    words = ["two words", "", "new\nline", os.fsdecode(b"\xff\xfe"), "é"]
    ended = desk.call("ask", *words, env={"A": "b=c", "EMPTY": ""}, cwd=tmp_path)
    assert (ended.status, ended.err) == (7, "err\n")
    assert ended.out == "out é\udcff\n"
    assert seen == {
        "argv": tuple(words),
        "env": {"A": "b=c", "EMPTY": ""},
        "cwd": str(tmp_path),
        "user": "carol",
        "program": str(desk.folder / "bin/ask"),
        "columns": 0,
    }


def test_a_command_is_known_by_its_file_if_its_name_is_another(desk, tmp_path):
    """A link of any name calls what it leads to, and so does a program given another name."""
    desk.call("nvidia-smi", "-L")
    (tmp_path / "gpus").symlink_to(desk.folder / "bin/nvidia-smi")
    call = subprocess.Popen(
        [tmp_path / "gpus", "-L"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert desk.end(call).out.count("H100") == 2


def test_nvidia_smi_answers_from_the_node(desk):
    """By NVML, at the run's time."""
    ended = desk.call("nvidia-smi", "--query-gpu=index,memory.used", "--format=csv,noheader")
    assert (ended.status, ended.out) == (0, "0, 61440 MiB\n1, 61440 MiB\n")
    assert desk.shown == []


def test_what_a_call_changed_can_be_seen_when_it_returns(desk):
    """The loop is told to show the node before the program ends."""
    ended = desk.call("nvidia-smi", "-pl", "400", "-i", "1")
    assert ended.status == 0, ended
    assert desk.shown == [0]
    said = desk.call("nvidia-smi", "--query-gpu=power.limit", "--format=csv,noheader,nounits")
    assert said.out == "700.00\n400.00\n"


def test_a_pause_lasts_on_the_runs_clock(desk):
    """However long the host takes; others are answered meanwhile."""

    @registry.command("nap", latency_us=0)
    def main(out, pause) -> int:
        out.write("before\n")
        pause(5_000_000)
        out.write("after\n")
        return 0

    napping = desk.start("nap")
    desk.until(lambda: desk.server.next_due_us() == 5_000_000)
    assert desk.call("nvidia-smi", "-L").status == 0
    desk.clock.jump(4_999_999)
    desk.turn()
    assert napping.poll() is None
    desk.clock.jump(5_000_000)
    assert desk.end(napping).out == "before\nafter\n"


def test_two_calls_have_an_nvml_each(desk):
    """One that repeats itself, and is parked, is not disturbed by another's beginning and end."""
    query = ("--query-gpu=count", "--format=csv,noheader", "-i", "0")
    looping = desk.start("nvidia-smi", *query, "-lms", "1000")
    desk.until(lambda: desk.server.next_due_us() == 1_000_000)
    desk.call("nvidia-smi", *query)
    desk.clock.jump(1_000_000)
    desk.until(lambda: desk.server.next_due_us() == 2_000_000)
    assert looping.stdout is not None
    assert looping.stdout.readline() + looping.stdout.readline() == b"2\n2\n"
    looping.kill()
    desk.end(looping)


def test_input_is_asked_for_when_it_is_read(desk):
    """All of it, and its end."""

    @registry.command("count", latency_us=0)
    def main(stdin, out) -> int:
        out.write("say\n")
        out.write(f"{len(stdin.read())}\n")
        return 0

    call = desk.start("count", stdin=subprocess.PIPE)
    assert call.stdin is not None and call.stdout is not None
    desk.until(lambda: any(c.call for c in desk.server._callers))
    desk.turn()
    assert call.stdout.readline() == b"say\n"
    with call.stdin as stdin:
        writer = threading.Thread(target=stdin.write, args=[b"x" * 300_000])
        writer.start()
        desk.until(lambda: not writer.is_alive())
    call.stdin = None  # closed; communicate() is not to flush it
    assert desk.end(call).out == "300000\n"


def test_a_call_whose_program_is_killed_ends_where_it_waits(desk):
    """What it holds is let go of."""
    ended: list[str] = []

    @registry.command("nap", latency_us=0)
    def main(pause) -> int:
        try:
            pause(1 << 40)
        finally:
            ended.append("ended")
        return 0

    call = desk.start("nap")
    desk.until(lambda: desk.server.next_due_us() < 1 << 50)
    call.send_signal(signal.SIGTERM)
    assert desk.end(call).status == -signal.SIGTERM
    desk.until(lambda: ended == ["ended"])


def test_output_that_is_not_read_holds_the_call_up(desk):
    """Nothing piles up in the simulator, and all of it arrives in the end."""
    written: list[int] = []

    @registry.command("yes", latency_us=0)
    def main(out) -> int:
        for number in range(100_000):
            out.write("0123456789abcdef\n")
            written.append(number)
        return 0

    call = desk.start("yes")
    for _ in range(30):
        desk.turn()
    assert 1000 < len(written) < 99_000
    assert call.stdout is not None
    os.set_blocking(call.stdout.fileno(), False)
    sizes = [0]

    def has_ended() -> bool:
        assert call.stdout is not None
        sizes.append(len(call.stdout.read() or b""))
        return call.poll() is not None and sizes[-1] == 0

    desk.until(has_ended)
    assert (call.returncode, sum(sizes)) == (0, 1_700_000)
    call.communicate()


def test_a_reader_that_leaves_ends_the_program(desk):
    """As with any command before ``head``: SIGPIPE."""

    @registry.command("yes", latency_us=0)
    def main(out, pause) -> int:
        while True:
            out.write("y\n" * 10_000)
            pause(0)

    call = desk.start("yes")
    assert call.stdout is not None
    call.stdout.close()
    desk.until(lambda: call.poll() is not None)
    assert call.returncode == -signal.SIGPIPE
    desk.until(lambda: not desk.server._callers)
    assert call.stderr is not None
    call.stderr.close()


def test_a_call_that_is_not_understood_is_noted(desk):
    """Exit 125; the note has the words and what was said."""
    ended = desk.call("nvidia-smi", "daemon", "-c", "1")
    assert ended.status == 125
    assert desk.notes == [
        f"a call was not understood: {desk.folder}/bin/nvidia-smi daemon -c 1 "
        "(nvidia-smi: daemon is not imitated by this look-alike)."
    ]


def test_a_mistake_of_ours_ends_one_call_only(desk):
    """It is told and noted; the next call is answered."""

    @registry.command("broken", latency_us=0)
    def main() -> int:
        return 1 // 0

    ended = desk.call("broken")
    assert ended.status == 125
    assert "broken: our own fault: ZeroDivisionError" in ended.err
    assert len(desk.notes) == 1
    assert desk.call("nvidia-smi", "-L").status == 0


def test_a_name_that_nobody_answers_to_is_said(desk):
    """No call is taken for another."""
    ended = desk.call("nobody-knows")
    assert ended.status == 125
    assert "nobody-knows: there is no such look-alike" in ended.err


def is_at_end(connection: socket.socket) -> bool:
    """Whether the other side has hung up, without a word."""
    try:
        return connection.recv(100) == b""
    except BlockingIOError:
        return False


def test_whoever_talks_nonsense_is_hung_up_on(desk):
    """And nobody else is hurt."""
    for nonsense in (b"a\xff\xff\xff\xff", b"g\0\0\0\0", b"a\x03\0\0\0ls\0g\0\0\0\0", b"x"):
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(str(desk.folder / "commands.sock"))
            stranger.send(nonsense)
            stranger.shutdown(socket.SHUT_WR)
            stranger.setblocking(False)
            desk.until(partial(is_at_end, stranger))
    assert desk.call("nvidia-smi", "-L").status == 0


def test_without_a_simulator_a_call_says_so(desk):
    """Before it is answered, and in the middle."""

    @registry.command("nap", latency_us=0)
    def main(pause) -> int:
        pause(1 << 40)
        return 0

    call = desk.start("nap")
    desk.until(lambda: desk.server.next_due_us() < 1 << 50)
    desk.server.unregister()
    call.wait(20)
    out, err = call.communicate()
    assert (call.returncode, out, err) == (125, b"", b"nap: the fake node has ended\n")
    (desk.folder / "commands.sock").unlink()
    call = desk.start("nap")
    _, err = call.communicate(timeout=20)
    assert call.returncode == 125
    if not Path("/run/gputui-node").exists():
        assert err == b"nap: there is no fake node here that answers\n"


def test_a_lost_gpu_is_told_as_the_driver_tells_it(desk):
    """The same world as everywhere."""
    raise_xid(desk.node, desk.node.gpus[1], 79, 0)
    assert "Unknown Error" in desk.call("nvidia-smi", "-L").out


def test_a_hung_driver_holds_a_call_until_it_is_healed(desk, monkeypatch):
    """Whatever the clock does meanwhile; others' calls are not held up by it."""
    hung = [True]

    def slowly(node: Any, call: Call, at_us: int) -> Answer:
        if hung[0] and call.function == "nvmlDeviceGetTemperature":
            return Answer(0, (), FOREVER_US)
        return answer(node, call, at_us)

    monkeypatch.setattr("chaos.lookalikes.under_way.answer", slowly)
    query = ("--query-gpu=temperature.gpu", "--format=csv,noheader", "-i", "0")
    call = desk.start("nvidia-smi", *query)
    desk.until(lambda: any(caller.call for caller in desk.server._callers))
    desk.clock.jump(60_000_000)
    desk.turn()
    assert desk.call("nvidia-smi", "-L").status == 0
    assert call.poll() is None
    hung[0] = False
    desk.turn(happened=True)
    assert desk.end(call).out.strip().isdecimal()
