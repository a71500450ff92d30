"""Who may reset which GPUs, and together with which others."""

from __future__ import annotations

import pytest


def released(shell):
    """Persistence keeps the driver with a GPU, DCGM has it open: both are turned off first."""
    assert shell("systemctl", "stop", "dcgm-exporter", "nvidia-dcgm").status == 0
    assert shell("nvidia-smi", "-pm", "0").status == 0
    return shell


def test_an_idle_gpu_is_reset_once_persistence_is_off(make_shell):
    """Refused before with status 255, done after; what asked for it is forgotten."""
    shell = make_shell(gpus=2, idle=True)
    shell.node.gpus[1].remapped_rows.pending = True
    assert shell("nvidia-smi", "-r", "-i", "1").status == 255
    said = released(shell)("nvidia-smi", "--gpu-reset", "-i", "1")
    assert said.lines == ["GPU 00000000:43:00.0 was successfully reset.", "All done."]
    assert not shell.node.gpus[1].remapped_rows.pending


@pytest.mark.parametrize("service", ["nvidia-dcgm", "dcgm-exporter"])
def test_a_reset_is_refused_while_dcgm_watches(service, make_shell):
    """Whoever has /dev/nvidia* open uses the GPU; stopped, it does not."""
    shell = released(make_shell(gpus=1, idle=True))
    assert shell("systemctl", "start", service).status == 0
    said = shell("nvidia-smi", "-r", "-i", "0")
    assert "  GPU 00000000:1B:00.0: In use by another client" in said.lines
    assert said.status == 255
    assert shell("systemctl", "stop", service).status == 0
    assert shell("nvidia-smi", "-r", "-i", "0").status == 0


def test_a_gpu_in_use_says_what_to_end_first(make_shell):
    """In the words that scripts look for."""
    said = released(make_shell(gpus=2))("nvidia-smi", "-r", "-i", "0")
    assert "  GPU 00000000:1B:00.0: In use by another client" in said.lines
    assert (
        "1 device is currently being used by one or more other processes (e.g., Fabric" in said.out
    )
    assert said.status == 255


def test_ampere_without_its_fabric_manager_is_reset_all_at_once(make_shell):
    """Alone it is refused, with the missing ones named; a running manager, or all, will do."""
    shell = released(make_shell(gpus=3, idle=True, model="a100-sxm"))
    assert shell("nvidia-smi", "-r", "-i", "1").status == 0
    shell.node.services.stop("nvidia-fabricmanager", shell.world)
    said = shell("nvidia-smi", "-r", "-i", "1")
    assert "Not among those named: 0, 2" in said.out
    assert said.status == 255
    assert shell("nvidia-smi", "-r").status == 0


def test_hopper_is_reset_alone_whatever_the_fabric_manager_does(make_shell):
    """As NVIDIA documents from then on."""
    shell = released(make_shell(gpus=2, idle=True))
    shell.node.services.stop("nvidia-fabricmanager", shell.world)
    assert shell("nvidia-smi", "-r", "-i", "0").status == 0


@pytest.mark.parametrize(
    "argv", [("-r",), ("-pl", "500"), ("-pm", "0"), ("-e", "0"), ("-mig", "1")]
)
def test_whose_jobs_run_may_look_and_not_change(argv, make_shell):
    """Insufficient Permissions, status 4, and nothing is done."""
    shell = make_shell(gpus=1)
    owner = next(iter(shell.node.jobs.values())).user
    said = shell("nvidia-smi", *argv, user=owner)
    assert "Insufficient Permissions" in said.out
    assert said.status == 4
    assert shell.node.actions.count == 0
    assert shell("nvidia-smi", "-L", user=owner).status == 0
