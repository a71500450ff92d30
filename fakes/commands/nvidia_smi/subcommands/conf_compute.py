"""``conf-compute``: confidential computing, which is off here."""

from __future__ import annotations

from collections.abc import Sequence

from fakes.commands.nvidia_smi.options import NotImitated
from fakes.commands.nvidia_smi.session import Session, given

_FLAGS = {
    "-f": "feature", "--get-cc-feature": "feature", "-d": "devtools",
    "--get-devtools-mode": "devtools", "-e": "environment", "--get-environment": "environment",
    "-grs": "ready", "--get-gpus-ready-state": "ready", "-q": "query", "-h": "help",
    "--help": "help", "-mgm": "multigpu", "--get-multigpu-mode": "multigpu",
}  # fmt: skip
_HELP = "nvidia-smi conf-compute [-f | -d | -e]      feature, development tools, environment\n"
_ENVIRONMENTS = ("None", "SIMULATION", "PRODUCTION")


def run(argv: Sequence[str], session: Session) -> int:
    """Say that it is off."""
    options = given("conf-compute", argv, _FLAGS, {})
    if not options or "help" in options:
        session.out.write(_HELP)
        return 0
    state = session.driver.get("nvmlSystemGetConfComputeState")
    if "feature" in options:
        session.out.write(f"CC status: {'ON' if state.ccFeature else 'OFF'}\n")
    elif "devtools" in options:
        session.out.write(f"DevTools Mode: {'ON' if state.devToolsMode else 'OFF'}\n")
    elif "environment" in options:
        session.out.write(f"CC Environment: {_ENVIRONMENTS[state.environment]}\n")
    else:
        raise NotImitated("conf-compute " + " ".join(argv))
    return 0
