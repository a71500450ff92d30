"""``gpuchaos models``."""

from __future__ import annotations

import argparse

from chaos.commands import Arguments
from fakes.profile import load_profile, models


class ModelsCommand:
    """List the models of GPU that a fake node can have."""

    example = "gpuchaos models"
    takes_program = False

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """No options."""

    def run(self, arguments: Arguments) -> int:
        """Print one line a model."""
        del arguments
        for model in models():
            profile = load_profile(model)
            print(
                f"{model:<12} {profile.name}, {profile.memory.total_mib} MiB, "
                f"{profile.power.limit_mw // 1000} W"
            )
        return 0
