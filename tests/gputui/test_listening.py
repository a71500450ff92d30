"""Services on GPUs that other machines can reach: seen in the kernel's list, told by their port."""

import os
import socket
from dataclasses import replace

import pytest

from gputui.incidents.engine import Engine
from gputui.incidents.rules import all_rules
from gputui.model import ListenerSample, ProcessSample, Severity
from gputui.sources.listening import ListenerReader
from gputui.sources.sock_diag import Listener, listeners
from gputui.sources.tcp import TcpReader

ANY = bytes(4)


class Kernel:
    """Answers with the listeners it is given, and counts how often it is asked."""

    def __init__(self, *there):
        self.there = there
        self.asked = 0

    def __call__(self, inodes):
        self.asked += 1
        return [one for one in self.there if one.inode in inodes]


def test_what_listens_beyond_this_machine_is_told_with_its_process():
    """The loopback is nobody else's, and other processes' sockets are not asked about."""
    kernel = Kernel(
        Listener(1, ANY, 8888),
        Listener(2, bytes((127, 0, 0, 1)), 8000),
        Listener(3, bytes(16), 6006),
        Listener(9, ANY, 22),
    )
    found = ListenerReader(kernel).read({1: 77, 2: 77, 3: 78}, 0.0)
    assert found == (ListenerSample(78, 6006, "::"), ListenerSample(77, 8888, "0.0.0.0"))


def test_the_kernel_is_asked_once_a_minute_and_not_about_nothing():
    """A sample a second costs nothing more."""
    kernel = Kernel(Listener(1, ANY, 8888))
    reader = ListenerReader(kernel)
    assert reader.read({}, 0.0) == ()
    for second in range(120):
        assert len(reader.read({1: 77}, float(second))) == 1
    assert kernel.asked == 2


def test_a_kernel_that_refuses_hides_the_listeners_only():
    """No reading fails of it."""

    def refuse(_):
        raise OSError(1, "no")

    assert ListenerReader(refuse).read({1: 77}, 0.0) == ()


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_this_kernel_tells_of_a_real_listener(family, address):
    """By its inode, with its address and port; a connection is none."""
    with socket.socket(family) as server:
        try:
            server.bind((address, 0))
        except OSError:
            pytest.skip(f"{address} is not there")
        server.listen()
        inode = os.fstat(server.fileno()).st_ino
        with socket.create_connection(server.getsockname()[:2]) as client:
            wanted = {inode, os.fstat(client.fileno()).st_ino}
            (found,) = listeners(wanted)
        assert (found.inode, found.text, found.port) == (inode, address, server.getsockname()[1])
        assert not found.is_open


def test_this_process_is_seen_from_end_to_end():
    """Its own listening socket, through /proc and the kernel."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        tcp = TcpReader()
        tcp.read([os.getpid()], 0.0, 0.0)
        assert tcp.sockets[os.fstat(server.fileno()).st_ino] == os.getpid()


@pytest.fixture
def listens(make):
    """The incidents of a node on which a process on GPU 2 listens on a port."""

    def see(port, pid=77, seconds=3):
        engine = Engine(all_rules(), interval_s=1.0)
        process = ProcessSample(77, 2, memory_bytes=60 * make.GIB, command="python3 -m notebook")
        for second in range(seconds):
            sample = make.node(float(second))
            there = (ListenerSample(pid, port, "0.0.0.0"),)
            engine.sample(replace(sample, processes=(process,), listeners=there))
        return engine.incidents

    return see


@pytest.mark.parametrize(
    ("port", "severity"), [(8888, Severity.WARNING), (8000, Severity.INFO), (9400, Severity.INFO)]
)
def test_a_known_service_of_a_gpu_process_is_exposed(listens, port, severity):
    """What runs the code it is sent warns; a server of models informs."""
    (exposed,) = listens(port)
    assert (exposed.kind, exposed.cause, exposed.gpu) == ("ServiceExposed", "no-tls", 2)
    assert exposed.severity is severity
    assert f"ssh -L {port}:localhost:{port}" in exposed.action_text


def test_rendezvous_ports_and_other_peoples_services_are_nobodys_trouble(listens):
    """Every training job opens some; what is not on a GPU is not gputui's matter."""
    assert listens(29500) == ()
    assert listens(8888, pid=5) == ()
