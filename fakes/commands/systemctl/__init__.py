"""``systemctl``: the services of a node, and its power (systemd 249, as Ubuntu 22.04 has it).

Each verb is a function in a module of this folder; a verb or an option that is not known here ends
with 125, as everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.clock import SECOND_US
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.commands.systemctl import acts, files, lists, power, queries, status
from fakes.commands.systemctl.asked import Asked, UnknownWordError, read
from fakes.node import Node
from fakes.world import World

VERBS = {**queries.VERBS, **status.VERBS, **lists.VERBS, **files.VERBS, **acts.VERBS, **power.VERBS}

_SLOW = frozenset({"start", "restart", "stop", "try-restart", "reload-or-restart"})
_VERSION = (
    "systemd 249 (249.11-0ubuntu3.12)\n"
    "+PAM +AUDIT +SELINUX +APPARMOR +IMA +SMACK +SECCOMP +GCRYPT +GNUTLS +OPENSSL +ACL +BLKID "
    "+CURL +ELFUTILS +FIDO2 +IDN2 -IDN +IPTC +KMOD +LIBCRYPTSETUP +LIBFDISK +PCRE2 -PWQUALITY "
    "-P11KIT -QRENCODE +BZIP2 +LZ4 +XZ +ZLIB +ZSTD -XKBCOMMON +UTMP +SYSVINIT "
    "default-hierarchy=unified\n"
)


def latency_us(argv: Sequence[str]) -> int:
    """Jobs take a second, questions a hundredth of it."""
    return SECOND_US if _SLOW & set(argv) and "--no-block" not in argv else SECOND_US // 100


@command("systemctl", latency_us=latency_us)
def main(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Do what a verb asks for; without one, list the units."""
    try:
        asked = read(argv)
    except UnknownWordError as error:
        err.write(f"systemctl: {error}\n")
        return NOT_UNDERSTOOD
    if "version" in asked.options:
        out.write(_VERSION)
        return 0
    asked = Asked(asked.verb or "list-units", asked.words, asked.options, asked.properties)
    verb = VERBS.get(asked.verb)
    if verb is None:
        err.write(f"systemctl: {asked.verb}: this verb is not known here\n")
        return NOT_UNDERSTOOD
    return verb(asked, node, world, out, err)
