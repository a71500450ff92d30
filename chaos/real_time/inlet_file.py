"""The sensor at a fake node's air inlet, as a file that monitors can read."""

from __future__ import annotations

from pathlib import Path


class InletFile:
    """Has the degrees Celsius in it, from the first call on."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, celsius: float) -> None:
        """Tell a temperature. Whoever reads sees the old one or the new one, whole."""
        scratch = self._path.with_name(f".{self._path.name}")
        scratch.write_text(f"{celsius:.1f}\n", encoding="ascii")
        scratch.chmod(0o644)
        scratch.replace(self._path)
