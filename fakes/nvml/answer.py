"""What an answer is: NVML's meaning, free of where the caller's pointers are.

An answer function says, in NVML's name, what one NVML function returns. It knows the world and the
moment; it knows no buffers, pages or sockets. Carriers (``inprocess.py``, the C library) bring the
inputs and put the outputs where the caller wants them, by the rules in ``function.py``.

::

    @answers("nvmlDeviceGetPowerUsage")
    def power_usage(gpu: Gpu, at_us: int) -> Value:
        return uint32(gpu.power_mw(at_us))

A function of a GPU takes ``(gpu, at_us, *inputs)``; one of the system ``(node, at_us, *inputs)``.
``inputs`` are the input parameters in the header's order without the device's handle: integers,
``bytes`` for strings and structures. What every GPU function shares (lost, reset required) stands
once, in :func:`answer`.
"""

from __future__ import annotations

from dataclasses import dataclass
Input = int | bytes | tuple[int, ...]

@dataclass(frozen=True, slots=True)
class Call:
    """One call, as either carrier hands it over.

    ``device`` is the index of the GPU's handle, or None for a function of the system. ``inputs``
    are the input parameters in order (see :class:`fakes.nvml.function.Kind`): int for values,
    bytes for strings and structures, a tuple of 32-bit words for a ``VERSIONED`` structure.
    """

    function: str
    device: int | None = None
    inputs: tuple[Input, ...] = ()


Value = bytes | tuple[bytes, ...]
"""One output parameter's bytes, or several's in order; a list's are all its records, joined."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A return code and the output parameters' bytes (none when the call fails).

    ``delay_us`` is how long the call takes on the run's clock.
    """

    code: int
    outputs: tuple[bytes, ...] = ()
    delay_us: int = 0
