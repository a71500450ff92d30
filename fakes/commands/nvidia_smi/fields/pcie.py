"""The PCI Express link."""

from __future__ import annotations

from fakes.commands.nvidia_smi.field import Field, field
from fakes.commands.nvidia_smi.reading import Gpu
from fakes.commands.nvidia_smi.words import nothing, said

FIELDS: tuple[Field[Gpu], ...] = (
    field(
        "pcie.link.gen.current",
        read=said("nvmlDeviceGetCurrPcieLinkGeneration"),
        about="The link's present generation.",
    ),
    field(
        "pcie.link.gen.gpucurrent",
        read=said("nvmlDeviceGetCurrPcieLinkGeneration"),
        about="The link's present generation, on the GPU's side.",
    ),
    field(
        "pcie.link.gen.max",
        read=said("nvmlDeviceGetMaxPcieLinkGeneration"),
        about="The highest generation that GPU and system can do together.",
    ),
    field(
        "pcie.link.gen.gpumax",
        read=said("nvmlDeviceGetGpuMaxPcieLinkGeneration"),
        about="The highest generation that the GPU can do.",
    ),
    field(
        "pcie.link.gen.hostmax",
        read=nothing,
        about="The highest generation that the root port can do.",
    ),
    field(
        "pcie.link.width.current",
        read=said("nvmlDeviceGetCurrPcieLinkWidth"),
        about="Lanes in use.",
    ),
    field(
        "pcie.link.width.max",
        read=said("nvmlDeviceGetMaxPcieLinkWidth"),
        about="Lanes that GPU and system have together.",
    ),
)
