"""The driver: loaded, of one version, and alone."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.doctor.check import Result, check, critical, good, unchecked
from gputui.doctor.site import Site
from gputui.model import Severity

_LOOK = "lspci -d 10de: lists the GPUs of this machine; gputui --demo shows a fake node"
_LOOKS = {
    4: "ls -l /dev/nvidia*; id",
    17: "ls -l /dev/nvidia*; nvidia-ctk cdi list",
    999: "dmesg | grep NVRM | tail; in a container: docker restart CONTAINER",
}
"""By NVML's code: no permission, blocked by the system, unknown."""


@check("driver")
def driver(site: Site) -> Iterator[Result]:
    """The NVIDIA driver answers, and its library and kernel module are of one version."""
    if "nouveau" in site.modules():
        yield critical(
            "the kernel module nouveau is loaded, which keeps NVIDIA's out",
            fix="echo 'blacklist nouveau' > /etc/modprobe.d/nouveau.conf && update-initramfs -u",
        )
    sample = site.sample
    on_bus = len(sample.on_bus or ()) if sample else 0
    module = (site.text("sys/module/nvidia/version") or "").strip()
    if sample is None or sample.error:
        why = site.unread or (sample.error if sample else None) or "no reading came"
        yield _silent(site, why, on_bus, module)
        return
    if module and sample.driver and module != sample.driver:
        yield critical(
            f"the library is {sample.driver}, the kernel module {module}: new programs will fail",
            fix="end what uses the GPUs, then: rmmod nvidia_uvm nvidia; modprobe nvidia; or reboot",
        )
        return
    cuda = f", CUDA up to {sample.cuda}" if sample.cuda else ""
    yield good(f"{sample.driver or 'unknown version'}{cuda}")


def _silent(site: Site, why: str, on_bus: int, module: str) -> Result:
    """Nobody answers. Where there are GPUs, work would fail; else this may be no node for it."""
    incidents = site.snapshot.incidents if site.snapshot else ()
    told = next((one for one in incidents if one.severity is Severity.CRITICAL), None)
    if on_bus or module:
        there = f"{on_bus} on the PCI bus" if on_bus else f"kernel module {module}"
        fix = "dkms status; then: systemctl reboot" if module else "modprobe nvidia"
        return critical(
            f"GPUs are there ({there}), but: {why}", fix=told.action_text if told else fix
        )
    if told is not None:
        return critical(why, fix=told.action_text)
    code = site.sample.error_code if site.sample else None
    return unchecked(why, fix=_LOOKS.get(code or 0, _LOOK))
