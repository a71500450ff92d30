"""The simulator's side: what publication costs and keeps, and clients that break the rules."""

from __future__ import annotations

import random
import selectors
import socket
import struct
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.nvml.answer import INIT_CALL, Answer, Call
from fakes.nvml.codes import Code
from fakes.nvml.endpoint import Endpoint, NodeInUseError
from fakes.nvml.function import Function, Kind
from fakes.nvml.slots import IDLE_ROUNDS, SLOT_LIMIT, Slots
from fakes.nvml.table import BY_NAME, FUNCTIONS
from fakes.nvml.wire import MalformedRequestError, decode

POWER = BY_NAME["nvmlDeviceGetPowerUsage"]
NAME = BY_NAME["nvmlDeviceGetName"]
WAIT = BY_NAME["nvmlEventSetWait_v2"]


def request(function: Function, device: int = 0, inputs: bytes = b"") -> bytes:
    return struct.pack("<HHI", function.id, device, 0) + inputs


class Bench:
    """An endpoint served step by step, and what it was asked."""

    def __init__(
        self, directory: Path, answer: Callable[[Call, int], Answer] | None = None
    ) -> None:
        self.now_us = 0
        self.asked: Counter[str] = Counter()
        self._answer = answer or (lambda call, at_us: Answer(0, (struct.pack("<I", at_us),)))
        self.endpoint = Endpoint(directory, self._ask, now_us=lambda: self.now_us)
        self.selector = selectors.DefaultSelector()
        self.endpoint.register(self.selector)

    def _ask(self, call: Call, at_us: int) -> Answer:
        if call == INIT_CALL:
            return Answer(0)
        self.asked[call.function] += 1
        return self._answer(call, at_us)

    def serve(self) -> None:
        """Serve whatever is ready."""
        while ready := self.selector.select(0.05):
            for key, _ in ready:
                key.data()

    def connect(self) -> socket.socket:
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        client.connect(str(self.endpoint.directory / "nvml.sock"))
        client.settimeout(5)
        return client

    def ask(self, message: bytes) -> bytes:
        """One request over a connection of its own; b"" if the endpoint hung up."""
        with self.connect() as client:
            client.send(message)
            self.serve()
            try:
                return client.recv(65536)
            except ConnectionError:
                return b""


@pytest.fixture
def bench(library: Path, folder: Path) -> Iterator[Bench]:
    made = Bench(folder / "node")
    yield made
    made.endpoint.close()


def value_of(reply: bytes) -> int:
    code, _, length, value = struct.unpack("<iIII", reply)
    assert (code, length) == (0, 4)
    return value


def test_questions_are_answered_at_the_published_moment(bench: Bench) -> None:
    """However late a question comes, it is answered as the page would answer it."""
    bench.endpoint.publish(1000)
    bench.now_us = 5000
    assert value_of(bench.ask(request(POWER))) == 1000
    bench.endpoint.publish(6000)
    assert value_of(bench.ask(request(POWER))) == 6000


def test_only_what_was_asked_is_refreshed(bench: Bench) -> None:
    """A publication costs nothing for questions nobody asked."""
    bench.endpoint.publish(1)
    assert not bench.asked
    bench.ask(request(POWER, 3))
    bench.asked.clear()
    bench.endpoint.publish(2)
    assert bench.asked == {POWER.name: 1}


def test_what_only_events_change_is_not_asked_at_every_tick(bench: Bench) -> None:
    """Names and limits are asked again after an event, and at most once a second without one."""
    bench.ask(request(POWER))
    bench.ask(request(NAME))
    bench.endpoint.publish(1)
    bench.asked.clear()
    for tick in range(20):
        bench.endpoint.publish(tick, happened=False)
    assert bench.asked[POWER.name] == 20
    assert bench.asked[NAME.name] <= 5
    bench.asked.clear()
    bench.endpoint.publish(21)
    assert bench.asked[NAME.name] == 1


def test_what_nobody_reads_is_given_up() -> None:
    """A slot without readers leaves the page after a while; one with readers stays."""
    slots = Slots(lambda call, at_us: Answer(0, (b"\1\0\0\0",)))
    for device in range(3):
        slots.add(POWER, Call(POWER.name, device), Answer(0, (b"\0\0\0\0",)))
    for _ in range(IDLE_ROUNDS):
        slots.refresh(0, steady=True)
        touched = bytearray(16384)
        touched[1] = 1
        slots.retire(touched)  # type: ignore[arg-type]
        assert not any(touched)
    assert len(slots) == 1


def test_an_answer_may_grow_and_shrink(library: Path, folder: Path) -> None:
    """A list that grows is moved in the page; one too long for it goes over the socket."""
    length = [0]
    bench = Bench(folder / "node", lambda call, at_us: Answer(0, (bytes(length[0]),)))
    processes = BY_NAME["nvmlDeviceGetComputeRunningProcesses_v3"]
    try:
        for records in (0, 1, 2, 50, 3, SLOT_LIMIT // 24 + 1, 0, 400):
            length[0] = records * 24
            reply = bench.ask(request(processes))
            assert struct.unpack_from("<I", reply, 8)[0] == records * 24
            bench.endpoint.publish(records)
    finally:
        bench.endpoint.close()


def test_an_answer_too_long_to_carry_is_an_error(library: Path, folder: Path) -> None:
    """There is a longest reply; beyond it the caller gets UNKNOWN instead of silence."""
    bench = Bench(folder / "node", lambda call, at_us: Answer(0, (bytes(70_000),)))
    try:
        assert struct.unpack("<iI", bench.ask(request(NAME))) == (Code.UNKNOWN, 0)
    finally:
        bench.endpoint.close()


@pytest.mark.parametrize(
    "message",
    [
        b"\0",
        b"\0" * 7,
        struct.pack("<HHI", 60000, 0, 0),
        request(POWER) + b"extra",
        request(BY_NAME["nvmlDeviceGetHandleByUUID"], 0xFFFF, struct.pack("<I", 0xFFFFFFFF)),
        request(BY_NAME["nvmlDeviceGetHandleByUUID"], 0xFFFF, struct.pack("<I", 100) + b"short"),
        b"\xff" * 60_000,
    ],
    ids=["one byte", "half a head", "no function", "too long", "huge text", "short text", "noise"],
)
def test_a_broken_request_is_hung_up_on_and_harms_nobody(bench: Bench, message: bytes) -> None:
    """Who breaks the protocol loses his connection; the next client is served."""
    assert bench.ask(message) == b""
    assert value_of(bench.ask(request(POWER))) == 0


def test_silent_clients_block_nobody(bench: Bench) -> None:
    """Connections that never ask, or never read, cost the others nothing."""
    silent = [bench.connect() for _ in range(100)]
    deaf = bench.connect()
    for _ in range(50):
        deaf.send(request(NAME))
        bench.serve()
    assert value_of(bench.ask(request(POWER))) == 0
    for each in (*silent, deaf):
        each.close()
    bench.serve()
    assert value_of(bench.ask(request(POWER))) == 0


@given(st.binary(max_size=200))
def test_no_bytes_crash_the_decoder(message: bytes) -> None:
    """Any message decodes or is malformed; what decodes has inputs of the right kinds."""
    try:
        decoded = decode(message)
    except MalformedRequestError:
        return
    for value in decoded.call.inputs:
        assert isinstance(value, int | bytes | tuple)


def test_random_inputs_for_every_function_leave_the_page_sound() -> None:
    """Whatever inputs a question has, it gets a place in the page or goes over the socket."""
    noise = random.Random(1)
    slots = Slots(lambda call, at_us: Answer(Code.NOT_SUPPORTED))
    for function in FUNCTIONS:
        for _ in range(5):
            device = noise.randrange(65536)
            decoded = decode(request(function, device, random_inputs(function, noise)))
            assert decoded.function is function
            if function.paged:
                slots.add(function, decoded.call, Answer(Code.NOT_SUPPORTED))
    slots.refresh(1, steady=True)
    assert len(slots) > 500


def random_inputs(function: Function, noise: random.Random) -> bytes:
    """Inputs of the right kinds, with any values in them."""
    sized = (Kind.TEXT_OUT, Kind.ARRAY, Kind.EACH)
    sizes = {param.partner for param in function.params if param.kind in sized}
    inputs = b""
    devices = 0
    for i, param in enumerate(function.params):
        devices += param.kind is Kind.DEVICE
        further = param.kind is Kind.DEVICE and devices > 1
        if further or (param.kind is Kind.U32 and i not in sizes):
            inputs += noise.randbytes(4)
        elif param.kind in (Kind.U64, Kind.HANDLE):
            inputs += noise.randbytes(8)
        elif param.kind in (Kind.VERSIONED, Kind.VERSIONED_LIST):
            inputs += noise.randbytes(4 * len(param.words))
        elif param.kind in (Kind.TEXT_IN, Kind.STRUCT_IN, Kind.VERSIONED_EACH, Kind.EACH):
            count = noise.randrange(100)
            inputs += struct.pack("<I", count) + noise.randbytes(count)
    return inputs


def test_a_delayed_reply_comes_when_the_runs_clock_says(library: Path, folder: Path) -> None:
    """Delays are of the run's clock, whatever the host's: the reply is sent when it gets there."""
    bench = Bench(folder / "node", lambda call, at_us: Answer(0, (b"\1\0\0\0",), 3_000_000))
    try:
        with bench.connect() as client:
            client.send(request(POWER))
            bench.serve()
            assert bench.endpoint.next_due_us() == 3_000_000
            bench.endpoint.publish(2_999_999)
            client.setblocking(False)
            with pytest.raises(BlockingIOError):
                client.recv(100)
            bench.endpoint.publish(3_000_000)
            assert value_of(client.recv(100)) == 1
            assert bench.endpoint.next_due_us() is None
    finally:
        bench.endpoint.close()


def test_what_acts_is_done_once_however_long_it_takes(library: Path, folder: Path) -> None:
    """A slow setter is not repeated while its caller waits."""
    done: list[int] = []

    def answer(call: Call, at_us: int) -> Answer:
        if call.function == "nvmlDeviceSetPowerManagementLimit":
            done.append(call.inputs[0])  # type: ignore[arg-type]
            return Answer(0, (), 1000)
        return Answer(Code.NOT_SUPPORTED)

    bench = Bench(folder / "node", answer)
    try:
        setter = BY_NAME["nvmlDeviceSetPowerManagementLimit"]
        with bench.connect() as client:
            client.send(request(setter, 0, struct.pack("<I", 250_000)))
            bench.serve()
            for at_us in (100, 900, 1000, 1100):
                bench.endpoint.publish(at_us)
            assert struct.unpack("<iI", client.recv(100)) == (0, 0)
        assert done == [250_000]
    finally:
        bench.endpoint.close()


def test_a_client_that_leaves_while_it_waits_is_forgotten(library: Path, folder: Path) -> None:
    """A deferred reply to nobody is dropped."""
    bench = Bench(folder / "node", lambda call, at_us: Answer(Code.TIMEOUT, delay_us=10_000))
    try:
        client = bench.connect()
        client.send(request(WAIT, 0xFFFF, struct.pack("<QI", 1, 10)))
        bench.serve()
        assert bench.endpoint.next_due_us() == 10_000
        client.close()
        bench.serve()
        assert bench.endpoint.next_due_us() is None
        bench.endpoint.publish(20_000)
    finally:
        bench.endpoint.close()


def test_a_directory_is_served_once(bench: Bench) -> None:
    """A second simulator for a directory is refused; what a dead one left is replaced."""
    with pytest.raises(NodeInUseError, match="another simulator"):
        Endpoint(bench.endpoint.directory, lambda c, t: Answer(3), now_us=lambda: 0)
    assert value_of(bench.ask(request(POWER))) == 0


def test_leftovers_are_replaced(library: Path, folder: Path) -> None:
    """Files of a simulator that was killed do not hinder the next."""
    node = folder / "node"
    node.mkdir()
    for name in ("page", "touched", "libnvidia-ml.so.1", "libnvidia-ml.so", ".page"):
        (node / name).write_bytes(b"old")
    stale = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    stale.bind(str(node / "nvml.sock"))
    stale.close()
    bench = Bench(node)
    assert value_of(bench.ask(request(POWER))) == 0
    bench.endpoint.close()
    assert list(node.iterdir()) == []


def test_a_path_longer_than_a_sockets_works(
    start: Callable[[Path], Any], client: Path, folder: Path
) -> None:
    """Directories deeper than 107 characters are served and found."""
    node = folder / ("d" * 80) / ("e" * 80)
    node.parent.mkdir(parents=True)
    simulator = start(node)
    subprocess.run([client, simulator.library, "setters"], check=True)


def test_one_loop_serves_while_it_publishes(library: Path, folder: Path) -> None:
    """Clients that ask from threads are all served by the one thread that publishes."""
    bench = Bench(folder / "node")
    got: list[int] = []

    def ask() -> None:
        with bench.connect() as client:
            for _ in range(50):
                client.send(request(POWER))
                got.append(value_of(client.recv(100)))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 20
    while len(got) < 400 and time.monotonic() < deadline:
        for key, _ in bench.selector.select(0.01):
            key.data()
        bench.now_us += 1
        bench.endpoint.publish(bench.now_us, happened=False)
    for thread in threads:
        thread.join(5)
    bench.endpoint.close()
    assert len(got) == 400
