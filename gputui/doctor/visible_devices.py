"""Containers that reach for GPUs past the device plugin, by an environment variable.

NVIDIA's container runtime gives a container the GPUs that NVIDIA_VISIBLE_DEVICES names, whoever
owns them, unless the cluster forbids it (accept-nvidia-visible-devices-envvar-when-unprivileged of
nvidia-container-toolkit, and the device plugin's README on --device-list-strategy).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gputui.doctor.check import Result, warning
from gputui.doctor.documents import at, is_list
from gputui.doctor.gpu_resources import GPU, VENDOR

VARIABLE = "NVIDIA_VISIBLE_DEVICES"
_NOTHING = frozenset({"", "void", "none"})


def exposed(name: str, container: Any) -> Iterator[Result]:
    """A container that names GPUs without asking for any: the scheduler does not know of it."""
    if not isinstance(container, Mapping) or _asks_for_gpus(container):
        return
    variables: Any = container.get("env")
    for one in variables if is_list(variables) else ():
        if not isinstance(one, Mapping) or one.get("name") != VARIABLE or "value" not in one:
            continue
        value = str(one["value"] if one["value"] is not None else "").strip()
        if value.lower() in _NOTHING:
            continue
        which = "all GPUs of its node" if value.lower() == "all" else f"GPUs {value} of its node"
        yield warning(
            f"{at(name, one, 'value')}: {VARIABLE}={value} without a limit: the container sees "
            f"{which}, those of other pods too, and the scheduler does not know",
            fix=f"take {VARIABLE} out; limits: {{{GPU}: 1}}",
        )


def _asks_for_gpus(container: Mapping[Any, Any]) -> bool:
    resources = container.get("resources")
    limits = resources.get("limits") if isinstance(resources, Mapping) else None
    return isinstance(limits, Mapping) and any(str(key).startswith(VENDOR) for key in limits)
