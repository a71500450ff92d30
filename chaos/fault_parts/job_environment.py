"""A job's environment, which its script sources from a file at every start."""

from __future__ import annotations

from collections.abc import Mapping

from chaos.fault import FaultError
from chaos.fault_parts.files import change
from chaos.undo import Undo
from fakes.jobs.cluster import UnknownError
from fakes.nccl.settings import with_setting
from fakes.world import World


def change_settings(
    world: World, job_id: str, settings: Mapping[str, str | None], undo: Undo
) -> None:
    """Set variables of a job, or, with None, unset them."""
    try:
        job = world.cluster.job(job_id)
    except UnknownError as error:
        raise FaultError(str(error)) from error
    path = world.homes.take_up(job.user, job.id)
    text = world.homes.read(path) or ""
    for name, value in settings.items():
        text = with_setting(text, name, value)
    change(world, world.nodes[job.nodes[0]], path, text, undo)
