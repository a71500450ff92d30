"""What programs hold of the driver's, so that it can be freed when they are gone.

As a driver does with the files that a process leaves open: it frees them by the very functions that
the process would have called.
"""

from __future__ import annotations

from collections.abc import Mapping

from fakes.nvml.answer import Answer, Call

FREED_BY: Mapping[str, str] = {
    "nvmlEventSetCreate": "nvmlEventSetFree",
    "nvmlGpmSampleAlloc": "nvmlGpmSampleFree",
}
"""Functions that hand out a handle, and those that take it back."""

GIVING_AND_FREEING = frozenset({*FREED_BY, *FREED_BY.values()})
"""The functions of which :class:`Holdings` takes note."""


class Holdings:
    """Handles by the client that got them."""

    def __init__(self) -> None:
        self._held: dict[int, dict[int, str]] = {}

    def note(self, call: Call, answer: Answer) -> None:
        """Take note of a call that was answered."""
        if answer.code:
            return
        if freeing := FREED_BY.get(call.function):
            handle = int.from_bytes(answer.outputs[0], "little")
            self._held.setdefault(call.client, {})[handle] = freeing
        elif call.function in GIVING_AND_FREEING:
            (freed,) = call.inputs
            assert isinstance(freed, int)
            self._held.get(call.client, {}).pop(freed, None)

    def frees(self, client: int) -> list[Call]:
        """The calls that free what a client held; it holds nothing any more."""
        held = self._held.pop(client, {})
        return [Call(freeing, None, (handle,), client) for handle, freeing in held.items()]
