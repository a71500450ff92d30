"""The GPUs: as many as there should be, and each of them answers."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.doctor.check import Result, check, critical, good, gpu_list, skipped
from gputui.doctor.site import Site
from gputui.sources.reasons import words


@check("gpus")
def gpus(site: Site) -> Iterator[Result]:
    """As many GPUs answer as the settings and the PCI bus say."""
    sample = site.sample
    if sample is None or sample.error:
        yield skipped("unknown: NVML cannot be asked")
        return
    silent = [gpu for gpu in sample.gpus if gpu.return_code]
    for gpu in silent:
        yield critical(
            f"GPU {gpu.index} does not answer: {words(gpu.return_code)}",
            fix=f"gputui explain GpuLost; dmesg | grep -i {gpu.bus_id or 'NVRM'}",
        )
    known = {gpu.bus_id for gpu in sample.gpus}
    missing = [one for one in sample.on_bus or () if not one.hidden and one.bus_id not in known]
    for one in missing:
        yield critical(
            f"{one.bus_id} is on the PCI bus, but NVML does not count it",
            fix=f"dmesg | grep -i -e {one.bus_id} -e RmInitAdapter; then reboot",
        )
    expected = site.config.expected_gpus
    if isinstance(expected, int) and sample.gpu_count < expected:
        yield critical(
            f"{sample.gpu_count} of {expected} GPUs are there",
            fix="lspci -d 10de: | wc -l; one missing there as well is off the bus: power cycle",
        )
    elif isinstance(expected, tuple):
        seen = {gpu.uuid for gpu in sample.gpus}
        for uuid in expected:
            if uuid not in seen:
                yield critical(f"{uuid} is missing", fix="nvidia-smi -L; lspci -d 10de:")
    if not sample.gpus and not missing and not expected:
        yield skipped("NVML counts no GPU here")
    if not silent and not missing and sample.gpus:
        names = ", ".join(sorted({gpu.name or "of unknown model" for gpu in sample.gpus}))
        yield good(f"{gpu_list(gpu.index for gpu in sample.gpus)}: {names}")
