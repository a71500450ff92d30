"""Whether everything that a GPU tells has been read once: what changes seldom comes later."""

from __future__ import annotations

from gputui.model import NodeSample
from gputui.sources.reasons import NOT_MEASURED_YET


def is_complete(sample: NodeSample) -> bool:
    """Whether nothing of a GPU that answers is still to be read for the first time."""
    return not any(
        NOT_MEASURED_YET in gpu.missing.values() for gpu in sample.gpus if not gpu.return_code
    )
