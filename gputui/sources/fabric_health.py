"""The health mask of a GPU's place in the NVLink fabric, in words.

Fields of bits and their values are NVML_GPU_FABRIC_HEALTH_MASK_* of nvml.h.
"""

from __future__ import annotations

HEALTHY = "healthy"

_YES, _NO = 1, 2
_TROUBLES = (
    (0, "bandwidth is degraded"),
    (2, "routes are being recovered"),
    (4, "a route is unhealthy"),
    (6, "accesses time out"),
)
_CONFIGURATION_SHIFT, _CONFIGURATION_MASK = 8, 0xF
_CONFIGURATIONS = {
    2: "another system GUID than expected",
    3: "another chassis serial number than expected",
    4: "no partition",
    5: "too few NVLinks",
    6: "GPU firmware does not fit",
    7: "not where it should be",
    8: "its state is invalid",
}
CONFIGURATION = "incorrect configuration: "
FIRMWARE_DOES_NOT_FIT = CONFIGURATION + _CONFIGURATIONS[6]


def fabric_health(mask: int) -> str:
    """``healthy``, or what is wrong, joined by commas; no text where the mask says nothing."""
    wrong = [text for shift, text in _TROUBLES if mask >> shift & 0x3 == _YES]
    configuration = mask >> _CONFIGURATION_SHIFT & _CONFIGURATION_MASK
    if configuration > 1:
        named = _CONFIGURATIONS.get(configuration, f"reason {configuration}")
        wrong.append(CONFIGURATION + named)
    if wrong:
        return ", ".join(wrong)
    known = configuration or any(mask >> shift & 0x3 == _NO for shift, _ in _TROUBLES)
    return HEALTHY if known else ""
