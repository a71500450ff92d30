"""The messages on a node's socket: one request, one reply (``shim/wire.c`` is the other side).

A request is a head of 8 bytes (function, device, reserved; 0xffff is no device) and the inputs in
order: 4 bytes for a ``U32``, a further ``DEVICE`` or each word of a ``VERSIONED``; 8 for a ``U64``
or ``HANDLE``; a length of 4 bytes and the bytes themselves for everything else. A reply is a code
and a reserved word, and the outputs, each a length of 4 bytes and its bytes, padded to four.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from fakes.nvml.answer import Answer, Call, Input
from fakes.nvml.codes import Code
from fakes.nvml.function import Function, Kind
from fakes.nvml.table import FUNCTIONS

MESSAGE_LIMIT = 65536
"""Bytes of the longest request, and of the longest reply."""

_HEAD = struct.Struct("<HHI")
_REPLY = struct.Struct("<iI")
_NO_DEVICE = 0xFFFF
_SIZED_BUFFERS = (Kind.TEXT_OUT, Kind.ARRAY, Kind.EACH)
_COUNTED = (Kind.TEXT_IN, Kind.STRUCT_IN, Kind.VERSIONED_EACH, Kind.EACH)


class MalformedRequestError(Exception):
    """A message that no library of ours sends."""


@dataclass(frozen=True, slots=True)
class Request:
    """A decoded request."""

    function: Function
    call: Call


def decode(message: bytes, client: int = 0) -> Request:
    """Read a request of a client's; :class:`MalformedRequestError` if it is none."""
    try:
        number, device, _ = _HEAD.unpack_from(message)
        function = FUNCTIONS[number]
        inputs, end = _inputs(function, message)
    except (struct.error, IndexError) as error:
        raise MalformedRequestError(str(error)) from error
    if end != len(message):
        raise MalformedRequestError(f"{len(message) - end} bytes too many for {function.name}")
    call = Call(function.name, None if device == _NO_DEVICE else device, inputs, client)
    return Request(function, call)


def _inputs(function: Function, message: bytes) -> tuple[tuple[Input, ...], int]:
    at = _HEAD.size
    inputs: list[Input] = []
    first_device = True
    for position, param in enumerate(function.params):
        kind = param.kind
        if kind is Kind.DEVICE and first_device:
            first_device = False
        elif kind is Kind.DEVICE or (kind is Kind.U32 and not _is_size(function, position)):
            inputs.append(struct.unpack_from("<I", message, at)[0])
            at += 4
        elif kind in (Kind.U64, Kind.HANDLE):
            inputs.append(struct.unpack_from("<Q", message, at)[0])
            at += 8
        elif kind in (Kind.VERSIONED, Kind.VERSIONED_LIST):
            inputs.append(struct.unpack_from(f"<{len(param.words)}I", message, at))
            at += 4 * len(param.words)
        elif kind in _COUNTED:
            (length,) = struct.unpack_from("<I", message, at)
            at += 4
            if length > len(message) - at:
                raise IndexError(f"a length of {length} bytes where {len(message) - at} are left")
            inputs.append(message[at : at + length])
            at += length
    return tuple(inputs), at


def _is_size(function: Function, position: int) -> bool:
    return any(
        param.partner == position and param.kind in _SIZED_BUFFERS for param in function.params
    )


def encode(answer: Answer) -> bytes:
    """The reply with an answer. One that is too long to carry becomes UNKNOWN."""
    message = _REPLY.pack(answer.code, 0) + pack_outputs(answer.outputs)
    return message if len(message) <= MESSAGE_LIMIT else _REPLY.pack(Code.UNKNOWN, 0)


def pack_outputs(outputs: tuple[bytes, ...]) -> bytes:
    """Outputs as both the socket and the page's slots carry them."""
    return b"".join(
        [
            part
            for output in outputs
            for part in (
                len(output).to_bytes(4, "little"),
                output,
                b"\0" * (-len(output) & 3),
            )
        ]
    )
