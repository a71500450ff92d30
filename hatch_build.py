"""Compiles a fake node's NVML library and programs into the wheel, where there is a C compiler.

Without one the wheel is pure Python: the monitor is whole, and a fake node says what is missing
when a program first needs it.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SHIM = Path("fakes/nvml/shim")
_SANDBOX = Path("chaos/sandbox")


class LibraryBuildHook(BuildHookInterface[Any]):
    """Hatchling's hook; its name is what ``pyproject.toml`` refers to."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before a wheel (also an editable one) is packed."""
        if self.target_name != "wheel":
            return
        # The project's own packages are not installed here; these two modules need no others.
        sys.path.insert(0, self.root)
        from chaos.sandbox import compiled
        from fakes.nvml.shim import build

        try:
            library = build.build(Path(self.root) / _SHIM)
            programs = [compiled.build(name, Path(self.root) / _SANDBOX) for name in compiled.NAMES]
        except build.LibraryError as error:
            self.app.display_warning(f"the wheel is made without what is compiled: {error}")
            return
        build_data["artifacts"].append(f"/{_SHIM}/{library.name}")
        build_data["artifacts"] += [f"/{_SANDBOX}/{program.name}" for program in programs]
        build_data["pure_python"] = False
        # C only: any Python 3 of this platform can use it.
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
