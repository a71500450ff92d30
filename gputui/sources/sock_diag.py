"""The kernel's lists of TCP sockets: connections with their round-trip times, and who listens.

It is asked over a netlink socket, as by ``ss -ti`` (sock_diag(7), linux/inet_diag.h, linux/tcp.h),
and answers anybody about the connections of its own network namespace. Asking takes it some
milliseconds on a big machine, however few connections there are.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Container, Iterator
from dataclasses import dataclass

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST_DUMP = 0x1 | 0x300
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_INET_DIAG_INFO = 2
_ESTABLISHED, _LISTENING = 1 << 1, 1 << 10

_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBxI48x")
_ATTRIBUTE = struct.Struct("=HH")
_ERROR = struct.Struct("=i")
_INODE = struct.Struct("=I")
_PORTS = struct.Struct(">HH")

# Offsets from the start of a message: after its header, in struct inet_diag_msg.
_FAMILY_AT = _HEADER.size
_PORTS_AT = _HEADER.size + 4
_SOURCE_AT, _TARGET_AT = _HEADER.size + 8, _HEADER.size + 24
_INODE_AT = _HEADER.size + 68
_ATTRIBUTES_AT = _HEADER.size + 72

# Offsets in struct tcp_info, and how much of it has to be there for them.
_RTT_AT, _RETRANSMITS_AT, _INFO_BYTES = 68, 100, 104
_COUNT = struct.Struct("=I")

_LOOPBACK_4 = 127
_LOOPBACK_6 = bytes(15) + b"\x01"
_MAPPED = bytes(10) + b"\xff\xff"
"""What an address of IPv4 begins with where an IPv6 socket speaks to it."""

_BUFFER_BYTES = 1 << 17
_TIMEOUT_S = 0.2
_MOST_CONNECTIONS = 50_000


@dataclass(frozen=True, slots=True)
class Connection:
    """One established connection. Addresses are of 4 or 16 bytes, in the order of the network.

    ``retransmits`` counts segments since it was made.
    """

    inode: int
    source: bytes
    target: bytes
    target_port: int
    rtt_us: int
    retransmits: int

    @property
    def stays_here(self) -> bool:
        """Whether both of its ends are on this machine."""
        is_loopback = self.target == _LOOPBACK_6 or (
            len(self.target) == 4 and self.target[0] == _LOOPBACK_4
        )
        return is_loopback or self.source == self.target

    @property
    def peer(self) -> str:
        """The other end, as people write it."""
        if len(self.target) == 4:
            return f"{socket.inet_ntop(socket.AF_INET, self.target)}:{self.target_port}"
        return f"[{socket.inet_ntop(socket.AF_INET6, self.target)}]:{self.target_port}"


@dataclass(frozen=True, slots=True)
class Listener:
    """A socket that waits for connections. ``address`` is of 4 or 16 bytes."""

    inode: int
    address: bytes
    port: int

    @property
    def is_open(self) -> bool:
        """Whether other machines can connect to it."""
        return self.address != _LOOPBACK_6 and not (
            len(self.address) == 4 and self.address[0] == _LOOPBACK_4
        )

    @property
    def text(self) -> str:
        """The address, as people write it."""
        family = socket.AF_INET if len(self.address) == 4 else socket.AF_INET6
        return socket.inet_ntop(family, self.address)


def connections(inodes: Container[int]) -> Iterator[Connection]:
    """Those of the wanted sockets, by their inodes.

    Raises OSError when the kernel does not tell. Of more than 50,000 connections the rest is not
    looked at.
    """
    for data, at, end, inode in _sockets(inodes, _ESTABLISHED, 1 << (_INET_DIAG_INFO - 1)):
        found = _connection(data, at, end, inode)
        if found is not None:
            yield found


def listeners(inodes: Container[int]) -> Iterator[Listener]:
    """Those of the wanted sockets that listen. Raises OSError when the kernel does not tell."""
    for data, at, _, inode in _sockets(inodes, _LISTENING, 0):
        port, _ = _PORTS.unpack_from(data, at + _PORTS_AT)
        yield Listener(inode, _address(data, at, _SOURCE_AT), port)


def _sockets(
    inodes: Container[int], states: int, extensions: int
) -> Iterator[tuple[bytes, int, int, int]]:
    """What the kernel tells of each wanted socket in some states, and the socket's inode."""
    for family in (socket.AF_INET, socket.AF_INET6):
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as kernel:
            kernel.settimeout(_TIMEOUT_S)
            kernel.send(_request(family, states, extensions))
            for count, (data, at, end) in enumerate(_messages(kernel)):
                if count == _MOST_CONNECTIONS:
                    break
                (inode,) = _INODE.unpack_from(data, at + _INODE_AT)
                if inode in inodes:
                    yield data, at, end, inode


def _request(family: int, states: int, extensions: int) -> bytes:
    wanted = _REQUEST.pack(family, socket.IPPROTO_TCP, extensions, states)
    size = _HEADER.size + len(wanted)
    return _HEADER.pack(size, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST_DUMP, 1, 0) + wanted


def _messages(kernel: socket.socket) -> Iterator[tuple[bytes, int, int]]:
    """Each message of the kernel's answer: what it lies in, where it begins and where it ends."""
    while True:
        data = kernel.recv(_BUFFER_BYTES)
        at = 0
        while at + _HEADER.size <= len(data):
            size, kind, *_ = _HEADER.unpack_from(data, at)
            if kind == _NLMSG_DONE:
                return
            if kind == _NLMSG_ERROR:
                code = -_ERROR.unpack_from(data, at + _HEADER.size)[0]
                raise OSError(code, os.strerror(code))
            end = at + size
            if size < _HEADER.size or end > len(data):
                raise OSError(errno.EPROTO, "a netlink message was cut short")
            if size >= _ATTRIBUTES_AT:
                yield data, at, end
            at = end + -end % 4


def _connection(data: bytes, at: int, end: int, inode: int) -> Connection | None:
    """The connection that a message tells; None where the kernel tells nothing of its times."""
    info = _info(data, at + _ATTRIBUTES_AT, end)
    if info is None:
        return None
    _, port = _PORTS.unpack_from(data, at + _PORTS_AT)
    return Connection(
        inode=inode,
        source=_address(data, at, _SOURCE_AT),
        target=_address(data, at, _TARGET_AT),
        target_port=port,
        rtt_us=_COUNT.unpack_from(data, info + _RTT_AT)[0],
        retransmits=_COUNT.unpack_from(data, info + _RETRANSMITS_AT)[0],
    )


def _address(data: bytes, at: int, where: int) -> bytes:
    """One of a message's two addresses, in the order of the network."""
    size = 4 if data[at + _FAMILY_AT] == socket.AF_INET else 16
    return data[at + where : at + where + size].removeprefix(_MAPPED)


def _info(data: bytes, at: int, end: int) -> int | None:
    """Where a message's struct tcp_info begins."""
    while at + _ATTRIBUTE.size <= end:
        size, kind = _ATTRIBUTE.unpack_from(data, at)
        if kind == _INET_DIAG_INFO and size >= _ATTRIBUTE.size + _INFO_BYTES:
            return at + _ATTRIBUTE.size
        if size < _ATTRIBUTE.size:
            return None
        at += size + -size % 4
    return None
