"""What somebody wrote into the cluster: labels, annotations, taints, and objects that were applied.

Everything else of it follows from the world.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]
"""An object of the API, as its JSON has it."""

Key = tuple[str, str, str]
"""Kind, namespace ("" for what has none) and name."""


@dataclass(slots=True)
class Kubernetes:
    """``labels``, ``annotations`` and ``taints`` are by node; ``owned`` are the manifests of jobs
    that were applied, by their numbers; ``applied`` are all other objects.
    """

    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    annotations: dict[str, dict[str, str]] = field(default_factory=dict)
    taints: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    owned: dict[int, Object] = field(default_factory=dict)
    applied: dict[Key, Object] = field(default_factory=dict)
