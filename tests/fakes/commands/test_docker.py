"""docker, nerdctl and crictl."""

import pytest

from fakes.commands.registry import NOT_UNDERSTOOD
from fakes.jobs.process import JobSpec


def test_a_list_of_containers_has_the_form_that_was_asked_for(machine):
    """One line each, of names, numbers, images and states."""
    machine.node.start_job(JobSpec("train", (0, 1)), machine.world.now_us)
    assert machine("docker", "ps", "--format", "{{.Names}}") == (0, "train\n")
    status, said = machine("docker", "ps", "-a", r"--format={{.ID}}\t{{ .Names }}: {{.Image}}")
    assert (status, said.partition("\t")[2]) == (0, "train: nvcr.io/nvidia/pytorch:24.05-py3\n")


@pytest.mark.parametrize(
    "line",
    [
        "docker ps --format {{.Mounts}}",
        "docker ps --format json",
        "docker ps --filter name=x",
        "docker ps -f name=x",
        "docker info --format {{.Runtimes}}",
        "docker info -f {{.Runtimes}}",
        "docker version --format {{.Server.Version}}",
        "nerdctl inspect --format={{.State}} train",
        "crictl ps -o json",
        "crictl inspect --output go-template train",
    ],
)
def test_forms_that_nobody_imitates_prove_nothing(machine, line):
    """Neither the usual list, nor an empty one, in their place."""
    machine.node.start_job(JobSpec("train", (0, 1)), machine.world.now_us)
    status, said = machine(*line.split())
    assert (status, said) == (NOT_UNDERSTOOD, f"{line}: this is not known here\n")


def test_options_of_what_a_container_runs_are_its_own(machine):
    """``--format`` after the image is the program's inside."""
    ran = []
    line = "docker run --rm --gpus all image nvidia-smi --query-gpu=name --format=csv"
    machine(*line.split(), become=lambda words: ran.append(list(words)) or 0)
    assert ran == [["nvidia-smi", "--query-gpu=name", "--format=csv"]]
