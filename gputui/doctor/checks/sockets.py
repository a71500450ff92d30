"""The interface over which ranks find each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gputui.doctor.check import Result, check, critical, good, skipped
from gputui.doctor.site import Site
from gputui.sources.files import names

VARIABLE = "NCCL_SOCKET_IFNAME"
GLOO_VARIABLE = "GLOO_SOCKET_IFNAME"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What NCCL_SOCKET_IFNAME says: names or their beginnings, which are meant or are not.

    ``eth`` means all that begin so, ``=eth0`` that one alone, ``^docker`` all but those, and
    ``^=lo`` all but that one (NCCL's documentation of its environment).
    """

    parts: tuple[str, ...]
    exact: bool
    excluded: bool

    @classmethod
    def of(cls, value: str) -> Wanted:
        """The variable's value, understood."""
        excluded = value.startswith("^")
        value = value.removeprefix("^")
        exact = value.startswith("=")
        parts = tuple(part for part in value.removeprefix("=").split(",") if part)
        return cls(parts, exact, excluded)

    def takes(self, interface: str) -> bool:
        """Whether an interface is meant."""
        named = any(
            interface == part if self.exact else interface.startswith(part) for part in self.parts
        )
        return named != self.excluded


@check("sockets")
def sockets(site: Site) -> Iterator[Result]:
    """The interface that NCCL_SOCKET_IFNAME or GLOO_SOCKET_IFNAME names is there, and is up."""
    nccl, gloo = site.environment.get(VARIABLE), site.environment.get(GLOO_VARIABLE)
    there = _interfaces(site)
    if nccl:
        yield _nccl(site, nccl, there)
    if gloo:
        for name in gloo.split(","):
            yield _one(site, GLOO_VARIABLE, name, there)
    if not nccl and not gloo:
        shown = ", ".join(name for name in there if name != "lo") or "none"
        yield skipped(f"{VARIABLE} is not set; interfaces here: {shown}")


def _nccl(site: Site, value: str, there: list[str]) -> Result:
    wanted = Wanted.of(value)
    meant = [name for name in there if wanted.takes(name)]
    if not meant:
        return _missing(VARIABLE, value, there)
    up = [name for name in meant if _is_up(site, name)]
    if not up:
        return _down(VARIABLE, value, meant[0])
    return good(f"{VARIABLE}={value} means {', '.join(up)}")


def _one(site: Site, variable: str, name: str, there: list[str]) -> Result:
    if name not in there:
        return _missing(variable, name, there)
    if not _is_up(site, name):
        return _down(variable, name, name)
    return good(f"{variable}={name} is up")


def _missing(variable: str, value: str, there: list[str]) -> Result:
    usable = [name for name in there if name != "lo" and not name.startswith(("docker", "veth"))]
    return critical(
        f"{variable}={value}, but there is no such interface (there are {', '.join(there)})",
        fix=f"export {variable}={usable[0] if usable else 'INTERFACE'}",
    )


def _down(variable: str, value: str, name: str) -> Result:
    return critical(f"{variable}={value}, but {name} is down", fix=f"ip link set {name} up")


def _interfaces(site: Site) -> list[str]:
    folder = site.root / "sys/class/net"
    try:
        return [name for name in names(str(folder)) if (folder / name).is_dir()]
    except OSError:
        return []


def _is_up(site: Site, name: str) -> bool:
    state = (site.text(f"sys/class/net/{name}/operstate") or "").strip()
    if state == "unknown":
        return (site.text(f"sys/class/net/{name}/carrier") or "").strip() == "1"
    return state == "up"
