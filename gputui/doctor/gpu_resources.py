"""Kubernetes' extended resources of NVIDIA's device plugin: their names, and amounts of them.

Sources: Kubernetes' "Schedule GPUs", "Extended resources" and its quantities; the device plugin's
README; NVIDIA's MIG User Guide, "Supported MIG Profiles".
"""

from __future__ import annotations

import difflib
import re
from fractions import Fraction

GPU = "nvidia.com/gpu"
VENDOR = "nvidia.com/"

_QUANTITY = re.compile(r"(\d{1,12}(?:\.\d{0,9})?)(?:[eE]([+]?\d)|(m|k|Ki|M|Mi)?)")
_FACTORS = {
    "": Fraction(1),
    "m": Fraction(1, 1000),
    "k": Fraction(1000),
    "Ki": Fraction(1024),
    "M": Fraction(10**6),
    "Mi": Fraction(1 << 20),
}

_NEAR = 0.85
"""How alike a name has to be to ``nvidia.com/gpu`` to be meant as it; amd.com/gpu is 0.72."""

_SHORT = frozenset({"gpu", "gpus", "nvidiagpu", "nvidiagpus", "alphakubernetesionvidiagpu"})
_PLAIN = re.compile(r"nvidia\.com/gpu(?:\.shared)?")
_MIG = re.compile(r"nvidia\.com/mig-(\d+g\.\d+gb)(?:\.me)?(?:\.all)?(?:\.shared)?")
_MIG_LIKE = re.compile(r"nvidia\.com/mig[-_.]?", re.I)

_PROFILES = {
    "A100 40GB": ("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"),
    "A30": ("1g.6gb", "2g.12gb", "4g.24gb"),
    "A100 80GB, H100 80GB": ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"),
    "GH200 96GB": ("1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb"),
    "H200": ("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"),
    "GH200 144GB": ("1g.18gb", "1g.36gb", "2g.36gb", "3g.72gb", "4g.72gb", "7g.144gb"),
    "B200": ("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"),
    "GB200": ("1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb"),
    "RTX PRO 6000": ("1g.24gb", "2g.48gb", "4g.96gb"),
}
MIG_PROFILES = frozenset(profile for profiles in _PROFILES.values() for profile in profiles)
"""Compute slices and memory of the MIG instances that are known here; newer GPUs have others."""


def quantity(value: object) -> Fraction | None:
    """An amount as Kubernetes reads it: ``1``, ``"0.5"``, ``500m``, ``1e3``; None for no amount.

    >>> quantity("500m")
    Fraction(1, 2)
    """
    found = None if isinstance(value, bool) else _QUANTITY.fullmatch(str(value))
    if found is None:
        return None
    number, power, unit = found.groups()
    return Fraction(number) * (10 ** int(power) if power else _FACTORS[unit or ""])


def meant(name: str) -> str | None:
    """The resource that a name was meant to be, where the device plugin offers none of it.

    >>> meant("nvidia.com/gpus")
    'nvidia.com/gpu'
    """
    if _PLAIN.fullmatch(name) or _MIG.fullmatch(name):
        return None
    if begin := _MIG_LIKE.match(name):
        profile = _nearest(name[begin.end() :].lower())
        return f"{VENDOR}mig-{profile or '1g.10gb'}"
    bare = "".join(filter(str.isalnum, name.lower()))
    if bare in _SHORT or difflib.SequenceMatcher(None, name.lower(), GPU).ratio() >= _NEAR:
        return GPU
    return None


def unknown_profile(name: str) -> tuple[str, str | None] | None:
    """The MIG profile in a resource's name, if none like it is known, and the nearest to it."""
    found = _MIG.fullmatch(name)
    if found is None or found[1] in MIG_PROFILES:
        return None
    return found[1], _nearest(found[1])


def _nearest(profile: str) -> str | None:
    near = difflib.get_close_matches(profile, sorted(MIG_PROFILES), 1)
    return near[0] if near else None
