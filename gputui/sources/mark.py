"""The size of the memory in which a sampler says whom it is asking (:mod:`.progress`)."""

from __future__ import annotations

MARK_BYTES = 16
