"""Round-trip times of the GPU processes' connections: whose, how long, within what bounds."""

import contextlib
import os
import socket

import pytest

from gputui.sources.sock_diag import Connection, connections
from gputui.sources.tcp import TcpReader


def connection(inode, rtt_us, target="10.0.0.7", retransmits=0):
    source, to = (socket.inet_aton(address) for address in ("10.0.0.1", target))
    return Connection(inode, source, to, 29500, rtt_us, retransmits)


class Kernel:
    """Answers with the connections it is given, and counts how often it is asked."""

    def __init__(self, *held):
        self.held = list(held)
        self.asked = 0

    def __call__(self, inodes):
        self.asked += 1
        return [one for one in self.held if one.inode in inodes]


@pytest.fixture
def process(tree):
    """Makes a process with the sockets of these inodes open, and some other files."""

    def make(pid, *inodes):
        folder = tree.root / f"proc/{pid}/fd"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "0").symlink_to("/dev/null")
        (folder / "1").symlink_to("pipe:[99]")
        for number, inode in enumerate(inodes, 3):
            (folder / str(number)).symlink_to(f"socket:[{inode}]")

    return make


@contextlib.contextmanager
def a_connection(family, address):
    """A connection of this process to itself, over which a byte has gone."""
    with (
        socket.create_server((address, 0), family=family) as server,
        socket.create_connection(server.getsockname()[:2]) as one,
        server.accept()[0] as other,
    ):
        one.sendall(b"x")
        other.recv(1)
        yield one, other


def test_median_and_worst_are_of_the_gpu_processes_own_connections(tree, process):
    """Sockets of others do not count, and the worst names its peer."""
    process(77, 1, 2)
    process(78, 3)
    kernel = Kernel(
        connection(1, 100), connection(2, 9000, "10.0.0.9"), connection(3, 200), connection(4, 5)
    )
    sample = TcpReader(tree.root, ask=kernel).read([77, 78], 0.0, 1000.0)
    assert (sample.connections, sample.rtt_median_us, sample.rtt_worst_us) == (3, 200, 9000)
    assert (sample.worst_peer, sample.time_s) == ("10.0.0.9:29500", 1000.0)


def test_connections_within_the_machine_say_nothing_of_the_network(tree, process):
    """To loopback, and to one's own address."""
    process(77, 1, 2)
    kernel = Kernel(connection(1, 5, "127.0.0.1"), connection(2, 5, "10.0.0.1"))
    sample = TcpReader(tree.root, ask=kernel).read([77], 0.0, 0.0)
    assert sample.connections == 0
    assert sample.missing["rtt_median_us"] == "no connections to other machines"


def test_retransmits_are_those_since_the_last_measurement(tree, process):
    """A connection that is new counts in full; one that closed takes nothing away."""
    process(77, 1, 2, 3)
    kernel = Kernel(connection(1, 100, retransmits=50), connection(2, 100, retransmits=7))
    reader = TcpReader(tree.root, ask=kernel)
    first = reader.read([77], 0.0, 0.0)
    assert (first.retransmits, first.missing) == (None, {"retransmits": "needs two measurements"})
    kernel.held = [connection(1, 100, retransmits=53), connection(3, 100, retransmits=2)]
    assert reader.read([77], 10.0, 10.0).retransmits == 5


def test_the_kernel_is_asked_seldom(tree, process):
    """Once in ten seconds; where there are new processes sooner, but at most once a second."""
    process(77, 1)
    kernel = Kernel(connection(1, 100))
    reader = TcpReader(tree.root, ask=kernel)
    for tenth in range(100):
        reader.read([77], tenth / 10, 0.0)
    assert kernel.asked == 1
    for tenth in range(100, 120):
        process(tenth, tenth)
        reader.read([77, tenth], tenth / 10, 0.0)
    assert kernel.asked <= 4


def test_processes_without_sockets_cost_nothing(tree, process):
    """The kernel is not asked about nothing."""
    process(77)
    kernel = Kernel()
    sample = TcpReader(tree.root, ask=kernel).read([77, 4_194_303], 0.0, 0.0)
    assert (sample.connections, kernel.asked) == (0, 0)


def test_no_processes_no_measurement(tree):
    """An idle node has nothing to measure, and nothing to complain of."""
    assert TcpReader(tree.root, ask=Kernel()).read([], 0.0, 0.0) is None


def test_open_files_are_seen_anew_after_a_while(tree, process):
    """A connection that is made later is found within half a minute."""
    process(77, 1)
    kernel = Kernel(connection(1, 100), connection(2, 300))
    reader = TcpReader(tree.root, ask=kernel)
    assert reader.read([77], 0.0, 0.0).connections == 1
    (tree.root / "proc/77/fd/9").symlink_to("socket:[2]")
    assert reader.read([77], 40.0, 40.0).connections == 2


def test_what_may_not_be_seen_says_so(tree, process, unprivileged):
    """Another user's open files are theirs; with none to be seen nothing is told."""
    process(77, 1)
    tree.lock("proc/77/fd")
    with unprivileged():
        sample = TcpReader(tree.root, ask=Kernel(connection(1, 1))).read([77], 0.0, 0.0)
    assert sample.connections is None
    assert "(no permission)" in sample.missing["connections"]
    (tree.root / "proc/77/fd").chmod(0o755)


def test_processes_of_another_network_are_not_passed_off_as_silent(tree, process):
    """A container's connections are told by its own network namespace alone."""
    process(77, 1)
    process(78, 2)
    for who, network in (("self", 1), ("77", 1), ("78", 5)):
        folder = tree.root / f"proc/{who}/ns"
        folder.mkdir(parents=True)
        (folder / "net").symlink_to(f"net:[{network}]")
    kernel = Kernel(connection(1, 100), connection(2, 100))
    both = TcpReader(tree.root, ask=kernel).read([77, 78], 0.0, 0.0)
    assert (both.connections, both.missing["processes"]) == (1, "1 of 2: another network namespace")
    other = TcpReader(tree.root, ask=kernel).read([78], 0.0, 0.0)
    assert other.connections is None
    assert "another network namespace" in other.missing["connections"]


def test_a_kernel_that_refuses_is_a_reason(tree, process):
    """In a container without the module, or with netlink forbidden."""
    process(77, 1)

    def refuse(_):
        raise FileNotFoundError(2, "No such file or directory")

    sample = TcpReader(tree.root, ask=refuse).read([77], 0.0, 0.0)
    assert sample.connections is None
    assert sample.missing["rtt_worst_us"] == "the kernel does not tell (sock_diag: not there)"


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_this_kernel_tells_the_times_of_a_real_connection(family, address):
    """Both ends are found by their inodes, with addresses, port and a time that can be."""
    if family == socket.AF_INET6 and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    with a_connection(family, address) as ends:
        inodes = {os.fstat(end.fileno()).st_ino: end for end in ends}
        found = {one.inode: one for one in connections(inodes)}
        assert found.keys() == inodes.keys()
        for inode, one in found.items():
            host = f"[{address}]" if family == socket.AF_INET6 else address
            assert one.peer == f"{host}:{inodes[inode].getpeername()[1]}"
            assert one.stays_here
            assert 0 < one.rtt_us < 10_000_000


def test_an_ipv4_connection_of_an_ipv6_socket_is_told_as_what_it_is():
    """Servers that listen on both have mapped addresses, which nobody wants to read."""
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    with (
        socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server,
        socket.create_connection(("127.0.0.1", server.getsockname()[1])),
        server.accept()[0] as end,
    ):
        (one,) = connections({os.fstat(end.fileno()).st_ino})
    assert one.peer.startswith("127.0.0.1:")
    assert one.stays_here


def test_this_process_is_measured_from_end_to_end():
    """From /proc and the kernel, without any privilege over one's own processes."""
    with a_connection(socket.AF_INET, "127.0.0.1"):
        sample = TcpReader(local=True).read([os.getpid()], 0.0, 0.0)
    assert sample.connections >= 2
    assert 0 < sample.rtt_median_us <= sample.rtt_worst_us
