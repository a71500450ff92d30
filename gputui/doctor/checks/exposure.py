"""Services that anybody on the network may use."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

from gputui.doctor.check import Result, check, good, unchecked, warning
from gputui.doctor.site import Site
from gputui.services import SERVICES

_LISTENS = "0A"
"""TCP_LISTEN, as /proc/net/tcp writes it (include/net/tcp_states.h)."""

_LOOPBACK_4 = "7F"
_LOOPBACK_6 = "00000000000000000000000001000000"
_MAPPED_LOOPBACK = "0000000000000000FFFF0000"
_HANDSHAKE_S = 1.0


@check("exposure")
def exposure(site: Site) -> Iterator[Result]:
    """No notebook, exporter or server of models is open beyond this machine without TLS."""
    listening = _open_ports(site)
    if listening is None:
        yield unchecked("the listening sockets cannot be read", fix="ss -ltn")
        return
    open_ports = sorted(listening & SERVICES.keys())
    plain = [port for port in open_ports if not speaks_tls(port)]
    for port in plain:
        yield warning(
            f"port {port} ({SERVICES[port]}) is open beyond this machine, without TLS",
            fix=f"ss -ltnp 'sport = :{port}'; let it listen on 127.0.0.1 and reach it by "
            f"ssh -L {port}:localhost:{port}, or give it a certificate",
        )
    if not plain:
        shown = ", ".join(str(port) for port in open_ports)
        yield good(f"port {shown}: with TLS" if shown else "none of the usual ports is open")


def _open_ports(site: Site) -> frozenset[int] | None:
    """The ports on which somebody listens for more than this machine (proc_net_tcp.rst)."""
    tables = [site.text("proc/net/tcp"), site.text("proc/net/tcp6")]
    if tables == [None, None]:
        return None
    ports = set()
    for line in "\n".join(table for table in tables if table).splitlines():
        parts = line.split()
        if len(parts) < 4 or parts[3] != _LISTENS:
            continue
        address, _, port = parts[1].partition(":")
        if not _is_loopback(address):
            ports.add(int(port, 16))
    return frozenset(ports)


def _is_loopback(address: str) -> bool:
    """Addresses are words of 32 bits, each in the machine's own order of bytes."""
    if len(address) == 8:
        return address.endswith(_LOOPBACK_4)
    mapped = address.startswith(_MAPPED_LOOPBACK) and address.endswith(_LOOPBACK_4)
    return address == _LOOPBACK_6 or mapped


def speaks_tls(port: int) -> bool:
    """Whether what listens on this machine answers a handshake; its certificate is not judged."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection(("127.0.0.1", port), _HANDSHAKE_S) as plain,
            context.wrap_socket(plain),
        ):
            return True
    except ssl.SSLError as error:
        # One that asks for the client's certificate refuses, but in TLS.
        return "ALERT" in (error.reason or "")
    except OSError:
        return False
