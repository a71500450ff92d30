"""Compiles the fake node's NVML library into the wheel, where there is a C compiler.

Without one the wheel is pure Python: the monitor is whole, and a fake node says what is missing
when a program first needs the library.
"""

from __future__ import annotations

import importlib.util
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SHIM = Path("fakes/nvml/shim")


class LibraryBuildHook(BuildHookInterface[Any]):
    """Hatchling's hook; its name is what ``pyproject.toml`` refers to."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before a wheel (also an editable one) is packed."""
        if self.target_name != "wheel":
            return
        build = self._load(Path(self.root) / _SHIM / "build.py")
        try:
            library = build.build(Path(self.root) / _SHIM)
        except build.LibraryError as error:
            self.app.display_warning(f"the wheel is made without the fake NVML library: {error}")
            return
        build_data["artifacts"].append(f"/{_SHIM}/{library.name}")
        build_data["pure_python"] = False
        # C only: any Python 3 of this platform can use it.
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"

    @staticmethod
    def _load(path: Path) -> Any:
        """The module at ``path``, without the package around it: its dependencies are not here."""
        spec = importlib.util.spec_from_file_location("fakenvml_build", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
