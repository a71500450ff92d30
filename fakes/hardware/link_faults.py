"""What breaks links and switches, and what the driver prints of it: both ends tell their own."""

from __future__ import annotations

from fakes.driver.events import EventType
from fakes.driver.texts import SxidText, driver_text, sxid_texts
from fakes.hardware.gpu import Gpu
from fakes.hardware.links import Switch, far_end
from fakes.node import Node

_NVLINK_ERROR = 74
_LINK_FAULT = 20034


def tell_broken_link(node: Node, gpu: Gpu, link: int, at_us: int) -> None:
    """Print what both ends say of a link that broke: an Xid of each GPU, an SXid of the switch."""
    _raise_link_error(node, gpu, link, at_us)
    end = far_end(node, gpu, link)
    if end.switch is not None:
        write_sxid(node, end.switch, _LINK_FAULT, end.number, at_us)
    elif end.gpu is not None:
        _raise_link_error(node, end.gpu, end.number, at_us)


def write_sxid(node: Node, switch: Switch, code: int, link: int, at_us: int) -> None:
    """Print the three lines of an NVSwitch's error. ``link`` is the switch's own port number.

    A code whose text is not known is fatal, and has none.
    """
    known = sxid_texts().get(code, SxidText("Fatal", "Unknown error"))
    parts = {
        "switch": switch.index,
        "bus_id": switch.bus_id,
        "code": code,
        "link": link,
        "severity": known.severity,
        "text": known.text,
        "level": known.level,
    }
    for name in ("switch_record", "switch_severity", "switch_data"):
        node.kernel_log.write(at_us, driver_text(name, **parts))


def _raise_link_error(node: Node, gpu: Gpu, link: int, at_us: int) -> None:
    owners = node.processes_on(gpu)
    blame = f"pid={owners[0].pid}, name={owners[0].name}, " if owners else ""
    text = driver_text("nvlink_fatal", link=link)
    node.kernel_log.write(at_us, f"NVRM: Xid (PCI:{gpu.bus_id}): {_NVLINK_ERROR}, {blame}{text}")
    node.driver_events.announce(at_us, gpu.index, EventType.XID, _NVLINK_ERROR)
