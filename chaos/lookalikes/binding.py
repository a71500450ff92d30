"""NVML for look-alikes: nvidia-ml-py on the in-process carrier, one for each call under way.

nvidia-ml-py keeps the library that it talks to in its module. Calls wait in the middle of what they
do, and others go on meanwhile, on other nodes perhaps: so each has a module of its own, which is
used again when it ends.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from typing import Any

from fakes.nvml.answer import Answer, Call
from fakes.nvml.inprocess import InProcess

Respond = Callable[[Call], Answer]


class Binding:
    """A module of nvidia-ml-py, and the library that it talks to."""

    def __init__(self, number: int) -> None:
        self.respond: Respond | None = None
        self.nvml = _module(f"pynvml_{number}")
        self._library = InProcess(self._answer)
        self.nvml.nvmlLib = self._library

    def close(self) -> None:
        """Free what the call left behind."""
        self._library.close()
        self._library.users = 0
        self.nvml._nvmlLib_refcount = 0
        self.respond = None

    def _answer(self, call: Call) -> Answer:
        assert self.respond is not None
        return self.respond(call)


class Bindings:
    """Bindings, lent to the calls under way."""

    def __init__(self) -> None:
        self._made = 0
        self._idle: list[Binding] = []

    def prepare(self) -> None:
        """Have one at hand: making one takes longer than a call should."""
        if not self._idle:
            self._made += 1
            self._idle.append(Binding(self._made))

    def borrow(self, respond: Respond) -> Binding:
        """A binding whose NVML answers by ``respond``."""
        self.prepare()
        binding = self._idle.pop()
        binding.respond = respond
        return binding

    def give_back(self, binding: Binding) -> None:
        """The call ended."""
        binding.close()
        self._idle.append(binding)


def _module(name: str) -> Any:
    """Another instance of nvidia-ml-py. It looks itself up by its name while it is loaded."""
    installed = importlib.util.find_spec("pynvml")
    assert installed is not None and installed.origin is not None
    spec = importlib.util.spec_from_file_location(name, installed.origin)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
