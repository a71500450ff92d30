"""What stands in place of the GPUs when there are none to show, and why."""

from __future__ import annotations

from gputui.age import age
from gputui.tui.roles import Role
from gputui.tui.scene import Scene
from gputui.tui.text import Line, Run, clean, make_line, wrap

_PATIENT_S = 10.0
"""A driver that has not answered for this long deserves an explanation."""

_SLOW = (
    "The first call to a driver without persistence mode takes some seconds. One that never "
    "answers hangs in the kernel: look for Xid and NVRM lines in dmesg. q quits at any time."
)

_MEANWHILE = "gputui keeps trying; q quits. gputui --demo shows a fake node that runs into trouble."


def lines(scene: Scene, width: int) -> list[Line]:
    """The explanation; empty when there are GPUs to show."""
    snapshot = scene.snapshot
    if snapshot is None:
        return _waiting(scene, width)
    sample = snapshot.sample
    if sample.error is not None:
        mark = Run(f" {scene.glyphs.critical} ", Role.CRITICAL)
        head = make_line([mark, Run("no GPU can be read", Role.CRITICAL)], width)
        told = [part for part in sample.error.splitlines() if part.strip()]
        return [
            head,
            *(line for part in told for line in _paragraph(clean(part), Role.STRONG, width)),
            *_paragraph(_MEANWHILE, Role.DIM, width),
        ]
    if not sample.gpus:
        mark = Run(f" {scene.glyphs.warning} ", Role.WARNING)
        head = make_line([mark, Run("the driver answers, and counts no GPU", Role.WARNING)], width)
        return [head, *_paragraph(_MEANWHILE, Role.DIM, width)]
    return []


def _waiting(scene: Scene, width: int) -> list[Line]:
    text = f" waiting for the driver {age(scene.silent_s)}"
    found = [make_line([Run(text, Role.STRONG)], width)]
    if scene.silent_s >= _PATIENT_S:
        found += _paragraph(_SLOW, Role.DIM, width)
    return found


def _paragraph(text: str, role: Role, width: int) -> list[Line]:
    return [make_line([Run("   "), Run(part, role)], width) for part in wrap(text, width - 5)]
