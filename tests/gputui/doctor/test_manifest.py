"""What Kubernetes manifests ask of GPUs."""

import subprocess
import sys

import pytest

from gputui.doctor.check import Level
from gputui.doctor.manifest import examine_manifest

POD = """\
apiVersion: v1
kind: Pod
spec:
  containers:
  - name: train
    resources:
      {resources}
"""


@pytest.fixture
def examined(tmp_path):
    def run(text):
        path = tmp_path / "manifest.yaml"
        path.write_text(text, encoding="utf-8")
        return [one.result for one in examine_manifest(path)]

    return run


@pytest.mark.parametrize(
    ("resources", "text"),
    [
        ("limits: {nvidia.com/gpu: 0.5}", "whole numbers"),
        ('limits: {nvidia.com/gpu: "0.5"}', "whole numbers"),
        ("limits: {nvidia.com/gpu: 500m}", "whole numbers"),
        ("limits: {nvidia.com/gpu: -1}", "no whole number"),
        ("limits: {nvidia.com/gpu: all}", "no whole number"),
        ("limits: {nvidia.com/gpu: true}", "no whole number"),
        ("requests: {nvidia.com/gpu: 1}", "without a limit"),
        ("{limits: {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: 2}}", "not overcommitted"),
        ("limits: {nvidia.com/mig-1g.10gb: 0.5}", "whole numbers"),
        ("limits: {nvidia.com/gpus: 1}", "no resource"),
        ("limits: {nvidia/gpu: 1}", "no resource"),
        ("limits: {nvdia.com/gpu: 1}", "no resource"),
        ("limits: {nvidia.com/GPU: 1}", "no resource"),
        ("limits: {gpu: 1}", "no resource"),
        ("limits: {nvidia.com/mig1g.10gb: 1}", "no resource"),
        ("limits: {nvidia.com/mig-1g10gb: 1}", "no resource"),
        ("limits: {nvidia.com/gpu: }", "no amount is given"),
        ("limits: [nvidia.com/gpu]", "limits is a list, expected a map"),
        ("limit: {nvidia.com/gpu: 1}", "resources have no limit"),
    ],
)
def test_what_a_cluster_refuses_is_critical_with_its_place(examined, resources, text):
    """Each is told at its line and column."""
    (found,) = examined(POD.format(resources=resources))
    assert found.level is Level.CRITICAL
    assert text in found.text
    assert "manifest.yaml:7:" in found.text
    assert found.fix


@pytest.mark.parametrize(
    "resources",
    [
        "limits: {nvidia.com/gpu: 1}",
        'limits: {nvidia.com/gpu: "1", cpu: 500m}',
        "{limits: {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: 1, cpu: 0.5}}",
        "limits: {nvidia.com/mig-1g.10gb: 2}",
        "limits: {nvidia.com/gpu: 1.0}",
        "limits: {nvidia.com/gpu: 1000m}",
        "limits: {cpu: 0.5, memory: 1Gi}",
        "limits: {nvidia.com/gpu.shared: 1}",
        "limits: {nvidia.com/mig-3g.71gb: 1}",
        "limits: {amd.com/gpu: 1, rdma/hca: 1}",
    ],
)
def test_what_a_cluster_grants_is_good(examined, resources):
    """Shares of a processor are nothing to complain of."""
    assert [found.level for found in examined(POD.format(resources=resources))] == [Level.GOOD]


def test_containers_are_found_in_any_kind_and_document(examined):
    """Kinds that operators have brought are understood as well."""
    job = """\
kind: PyTorchJob
spec:
  pytorchReplicaSpecs:
    Worker:
      template:
        spec:
          containers:
          - resources: {limits: {nvidia.com/gpu: 0.25}}
---
kind: List
items:
- kind: Deployment
  spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1.5}}}]}}}
"""
    assert [found.level for found in examined(job)] == [Level.CRITICAL] * 2


def test_several_gpus_want_shared_memory(examined):
    """Unless a volume in memory, or the host's, is there."""
    several = POD.format(resources="limits: {nvidia.com/gpu: 8}")
    assert [found.level for found in examined(several)] == [Level.WARNING]
    volume = "  volumes: [{name: shm, emptyDir: {medium: Memory}}]\n"
    assert [found.level for found in examined(several + volume)] == [Level.GOOD]


def test_a_quota_names_requests(examined):
    """A quota of limits on GPUs has no effect."""
    quota = "kind: ResourceQuota\nspec:\n  hard:\n    {}: 4\n"
    assert examined(quota.format("requests.nvidia.com/gpu"))[0].level is Level.GOOD
    assert examined(quota.format("limits.nvidia.com/gpu"))[0].level is Level.CRITICAL
    assert examined(quota.format("nvidia.com/gpu"))[0].level is Level.CRITICAL


@pytest.mark.parametrize(
    "text", ["kind: [", "a: b: c", "\x00", "kind: *nobody", "- " * 4000, "%YAML 9\n--- a"]
)
def test_what_is_no_manifest_cannot_be_checked(examined, text):
    """Broken text is said in one line."""
    found = examined(text)
    assert max(one.level for one in found) in (Level.UNCHECKED, Level.GOOD)
    assert all("\n" not in one.text for one in found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "manifest.yaml:1:1: nothing in it"),
        ("# only a comment\n---\n", "manifest.yaml:1:1: nothing in it"),
        ("hello\n", "manifest.yaml:1:1: text, expected a Kubernetes manifest"),
        ("- a\n- b\n", "manifest.yaml:1:1: a list, expected a Kubernetes manifest"),
        ("kind: Pod\n---\na: 1\n", "manifest.yaml:3:1: a map without a kind"),
        ("kind: Pod\nspec: [\n", "manifest.yaml:3:1: no YAML"),
        ("kind: Pod\n\tspec: 1\n", "manifest.yaml:2:1: no YAML"),
    ],
)
def test_what_holds_no_manifest_is_said_with_its_place(examined, text, said):
    """An empty file asks for nothing, and is no reason to say that all is well."""
    (found,) = examined(text)
    assert found.level is Level.UNCHECKED
    assert said in found.text
    assert found.fix


def test_containers_in_a_map_are_refused(examined):
    """A dash that was forgotten, the commonest mistake there is."""
    for inside in ("name: a\n    image: b", "a:\n      image: b"):
        (found,) = examined(f"kind: Pod\nspec:\n  containers:\n    {inside}\n")
        assert found.level is Level.CRITICAL
        assert "manifest.yaml:3:3: containers is a map, expected a list" in found.text


def test_a_mig_profile_that_no_gpu_has_is_a_warning(examined):
    """There may be newer GPUs than those known here; the nearest profile is named."""
    (found,) = examined(POD.format(resources="limits: {nvidia.com/mig-1g.11gb: 1}"))
    assert found.level is Level.WARNING
    assert "nvidia.com/mig-1g.1" in found.fix


def test_a_manifest_comes_by_standard_input():
    """As ``helm template`` and ``kustomize build`` write it; the exit code is the doctor's."""
    for value, status in (("1", 0), ("0.5", 2), ("[", 3)):
        text = POD.format(resources=f"limits: {{nvidia.com/gpu: {value}}}")
        done = subprocess.run(
            [sys.executable, "-m", "gputui", "doctor", "--manifest", "-"],
            input=text, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == status
        assert "<stdin>" in done.stdout


def test_a_file_that_is_not_there_cannot_be_checked(tmp_path):
    """It is said with its name."""
    (found,) = examine_manifest(tmp_path / "none.yaml")
    assert found.result.level is Level.UNCHECKED
    assert "none.yaml" in found.result.text


def test_aliases_that_multiply_cost_nothing(examined):
    """Ten levels of ten aliases each are a hundred mappings, and not ten thousand millions."""
    levels = ["a0: &a0 {resources: {limits: {nvidia.com/gpu: 0.5}}}"]
    for number in range(1, 11):
        inside = ", ".join([f"*a{number - 1}"] * 10)
        levels.append(f"a{number}: &a{number} [{inside}]")
    assert [found.level for found in examined("\n".join(levels))] == [Level.CRITICAL]


def test_a_template_cannot_be_checked(examined):
    """What is filled in later is no value yet."""
    (found,) = examined(POD.format(resources="limits: {nvidia.com/gpu: {{ .Values.gpus }}}"))
    assert found.level is Level.UNCHECKED
    assert "rendered" in found.text


VISIBLE = """\
kind: Pod
spec:
  containers:
  - name: a
    image: b
    env: [{{name: NVIDIA_VISIBLE_DEVICES, value: {value}}}]
    resources: {resources}
"""


@pytest.mark.parametrize("value", ["all", '"0,1"', "GPU-8932f937"])
def test_gpus_taken_past_the_scheduler_are_told(examined, value):
    """Without a limit the variable alone gives them, other pods' too."""
    (found,) = examined(VISIBLE.format(value=value, resources="{}"))
    assert found.level is Level.WARNING
    assert "manifest.yaml:6:" in found.text
    assert "NVIDIA_VISIBLE_DEVICES" in found.text
    assert "limits" in found.fix


@pytest.mark.parametrize(
    ("value", "resources"),
    [
        ("void", "{}"),
        ("none", "{}"),
        ('""', "{}"),
        ("all", "{limits: {nvidia.com/gpu: 1}}"),
        ("all", "{limits: {nvidia.com/mig-1g.10gb: 1}}"),
    ],
)
def test_who_asks_for_gpus_or_for_none_is_fine(examined, value, resources):
    """The device plugin says which; no GPU is no exposure."""
    (found,) = examined(VISIBLE.format(value=value, resources=resources))
    assert found.level is Level.GOOD
