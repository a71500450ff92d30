"""kubectl, as scripts call it, answered from the world of a fleet that Kubernetes schedules."""

import io
import json

import pytest

from fakes.actions import Effect
from fakes.commands.registry import NOT_UNDERSTOOD, Call, commands
from fakes.driver.xid import raise_xid
from fakes.jobs.process import JobSpec
from fakes.jobs.records import Phase
from fakes.node import Node
from fakes.profile import load_profile
from fakes.world import World

SECOND_US = 1_000_000

QUOTA = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: burn-in}
value: -10
globalDefault: false
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: gpus, namespace: burn-in}
spec: {hard: {requests.nvidia.com/gpu: 8}}
"""

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: check, labels: {app: check}}
spec:
  nodeSelector: {kubernetes.io/hostname: n2}
  volumes: [{name: scratch, emptyDir: {}}]
  containers:
    - name: main
      image: cuda
      command: [sh, -c, "nvidia-smi; sleep 30"]
      resources: {limits: {nvidia.com/gpu: 1}}
"""


class Kubectl:
    """A fleet of four nodes with a job on two of them, and kubectl on the first."""

    def __init__(self, scheduler="kubernetes"):
        profile = load_profile("h100-sxm")
        self.world = World([Node(f"n{i}", profile, 8) for i in range(4)], schedules=True)
        self.world.cluster.scheduler = scheduler
        for node in self.world.nodes.values():
            node.scheduler = scheduler
        specs = {f"n{i}": JobSpec("train", tuple(range(8))) for i in range(2)}
        for name, spec in specs.items():
            self.world.nodes[name].start_job(spec, 0)
        self.job = self.world.cluster.add("train", specs)
        self.actions = []
        self.world.cluster.actions.listen(self.actions.append)
        self.err = ""
        self.ran = []

    def __call__(self, *argv, stdin=""):
        """The exit status and what was printed."""
        out, err = io.StringIO(), io.StringIO()
        call = Call(
            argv=argv, out=out, err=err, node=self.world.nodes["n0"], world=self.world, nvml=None,
            clock=lambda: self.world.now_us / 1e6, pause=self.wait, env={}, user="root",
            stdin=io.StringIO(stdin), spawn=self._spawn,
        )  # fmt: skip
        status = commands()["kubectl"](call)
        self.err = err.getvalue()
        return status, out.getvalue()

    def wait(self, us):
        self.world.advance(self.world.now_us + us)

    def _spawn(self, words, for_us):
        self.ran.append(list(words))
        return 0

    @property
    def effects(self):
        return [action.effect for action in self.actions]


@pytest.fixture
def kubectl():
    return Kubectl()


def test_there_is_no_cluster_where_slurm_is():
    """Kubectl has nobody to ask, in its own words; and Slurm has no controller the other way."""
    other = Kubectl("slurm")
    assert other("get", "nodes")[0] == 1
    assert "was refused" in other.err


def test_nodes_are_listed_with_their_states(kubectl):
    """Ready, and whether pods are placed on them."""
    kubectl("cordon", "n1")
    rows = [line.split()[:2] for line in kubectl("get", "nodes", "--no-headers")[1].splitlines()]
    assert rows[:3] == [["n0", "Ready"], ["n1", "Ready,SchedulingDisabled"], ["n2", "Ready"]]
    assert kubectl("get", "node", "-o", "name")[1].splitlines()[0] == "node/n0"


def test_a_node_whose_kubelet_is_silent_is_not_ready(kubectl):
    """Its conditions are unknown, and it is tainted."""
    kubectl.world.nodes["n3"].services.stop("kubelet.service", kubectl.world)
    path = '{.status.conditions[?(@.type=="Ready")].status}'
    assert kubectl("get", "node", "n3", "-o", f"jsonpath={path}")[1] == "Unknown"
    assert "NotReady" in kubectl("get", "nodes", "--no-headers")[1].splitlines()[3]


def test_what_the_plug_in_takes_out_is_not_allocatable(kubectl):
    """The capacity stays."""
    raise_xid(kubectl.world.nodes["n2"], kubectl.world.nodes["n2"].gpus[3], 79, 0)
    path = r"{.status.capacity.nvidia\.com/gpu} {.status.allocatable.nvidia\.com/gpu}"
    assert kubectl("get", "node", "n2", "-o", f"jsonpath={path}")[1] == "8 7"


def test_pods_are_chosen_by_node_and_label(kubectl):
    """Those of the job on n1, and the daemon sets' in all namespaces."""
    words = ("--field-selector", "spec.nodeName=n1", "-o", "json")
    mine = json.loads(kubectl("get", "pods", *words)[1])["items"]
    assert [pod["metadata"]["labels"]["job-name"] for pod in mine] == ["train"]
    everywhere = json.loads(kubectl("get", "pods", "-A", *words)[1])["items"]
    assert len(everywhere) > len(mine)
    line = kubectl("get", "po", "-n", "gpu-operator", "-l", "app=nvidia-dcgm-exporter")[1]
    assert len(line.splitlines()) == 5


def test_a_drain_is_refused_for_daemon_sets_and_local_data(kubectl):
    """Unless it is told to go on; the node is cordoned all the same."""
    kubectl("apply", "-f", "-", stdin=POD)
    assert kubectl("drain", "n2")[0] == 1
    for word in ("--ignore-daemonsets", "--delete-emptydir-data", "--force"):
        assert word in kubectl.err
    assert kubectl.world.cluster.nodes["n2"].drain is not None
    flags = ("--ignore-daemonsets", "--delete-emptydir-data", "--force")
    status, printed = kubectl("drain", "n2", *flags)
    assert (status, printed.splitlines()[-1]) == (0, "node/n2 drained")
    assert Effect.DRAIN in kubectl.effects


def test_a_drained_node_loses_its_job_to_another(kubectl):
    """The job's controller makes its pods anew, where there is room."""
    assert kubectl("drain", "n0", "--ignore-daemonsets")[0] == 0
    kubectl.wait(60 * SECOND_US)
    assert kubectl.job.phase is Phase.RUNNING
    assert "n0" not in kubectl.job.nodes
    assert kubectl("uncordon", "n0") == (0, "node/n0 uncordoned\n")
    assert kubectl.effects == [Effect.CORDON, Effect.DRAIN, Effect.UNCORDON]


def test_nodes_are_tainted_labelled_and_annotated(kubectl):
    """And what was written can be taken away."""
    assert kubectl("taint", "nodes", "n1", "gpu=bad:NoSchedule")[1] == "node/n1 tainted\n"
    assert kubectl("taint", "nodes", "n1", "gpu=bad:NoSchedule")[0] == 1
    assert "gpu=bad:NoSchedule" in kubectl("describe", "node", "n1")[1]
    assert kubectl("taint", "node", "n1", "gpu:NoSchedule-")[1] == "node/n1 untainted\n"
    assert kubectl("label", "node", "n1", "health=bad")[0] == 0
    assert kubectl("get", "nodes", "-l", "health=bad", "-o", "name")[1] == "node/n1\n"
    assert kubectl("label", "node", "n1", "health=good")[0] == 1
    assert kubectl("label", "node", "n1", "health-")[0] == 0
    assert kubectl("get", "nodes", "-l", "health", "-o", "name")[1] == ""
    assert kubectl("annotate", "node", "n1", "why=xid 79")[1] == "node/n1 annotated\n"


def test_objects_are_applied_and_pods_run(kubectl):
    """A quota and a priority class are kept; a pod runs on its node as long as it sleeps."""
    printed = kubectl("apply", "-f", "-", stdin=QUOTA)[1].splitlines()
    assert printed == ["priorityclass.scheduling.k8s.io/burn-in created",
                       "resourcequota/gpus created"]  # fmt: skip
    again = kubectl("apply", "-f", "-", stdin=QUOTA)[1].splitlines()
    assert [line.split()[-1] for line in again] == ["unchanged", "unchanged"]
    assert kubectl("apply", "-f", "-", stdin=POD)[1] == "pod/check created\n"
    phase = ("get", "pod", "check", "-o", "jsonpath={.status.phase} {.spec.nodeName}")
    assert kubectl(*phase)[1] == "Running n2"
    waited = ("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/check", "--timeout=60s")
    assert kubectl(*waited)[1] == "pod/check condition met\n"
    assert kubectl("delete", "pod", "check")[1] == 'pod "check" deleted\n'


def test_a_command_runs_in_a_pod_of_the_callers_node(kubectl):
    """By way of its node."""
    (pod, *_) = json.loads(kubectl("get", "pods", "-o", "json")[1])["items"]
    assert kubectl("exec", pod["metadata"]["name"], "--", "nvidia-smi", "-L")[0] == 0
    assert kubectl.ran == [["nvidia-smi", "-L"]]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("get", "node", "n9"), 1),
        (("get", "nonsense"), 1),
        (("wait", "--for=condition=Ready", "pod/none", "--timeout=2s"), 1),
        (("get", "deployments"), NOT_UNDERSTOOD),
        (("debug", "node/n0"), NOT_UNDERSTOOD),
        (("get", "nodes", "--bogus"), NOT_UNDERSTOOD),
        (("get", "nodes", "-o", "go-template={{.}}"), NOT_UNDERSTOOD),
    ],
)
def test_what_the_cluster_refuses_and_what_nobody_here_knows(kubectl, words, status):
    """1 is the cluster's no; 125 says that the look-alike does not know."""
    assert kubectl(*words)[0] == status
    assert kubectl.err


@pytest.mark.parametrize("form", ["wide", "json", "yaml", "name", "jsonpath={.items[*].kind}"])
@pytest.mark.parametrize("kind", ["no", "po", "jobs", "ds", "ev", "ns"])
def test_every_kind_is_printed_in_every_form(kubectl, kind, form):
    """On a fleet with a cordoned node, too."""
    kubectl("cordon", "n0")
    status, printed = kubectl("get", kind, "-A", "-o", form)
    assert (status, bool(printed)) == (0, True)


def test_a_node_has_the_labels_that_selectors_of_gpu_clusters_name(kubectl):
    """Those of GPU and node feature discovery; a lost GPU changes what is allocatable, not them."""
    raise_xid(kubectl.world.nodes["n0"], kubectl.world.nodes["n0"].gpus[3], 79, 0)
    status, text = kubectl("get", "node", "n0", "-o", "json")
    labels = json.loads(text)["metadata"]["labels"]
    told = {key.partition("/")[2]: value for key, value in labels.items()}
    assert status == 0
    assert told["gpu.product"] == "NVIDIA-H100-80GB-HBM3"
    assert (told["gpu.count"], told["gpu.memory"], told["gpu.family"]) == ("8", "81559", "hopper")
    assert (told["cuda.driver-version.full"], told["cuda.driver.major"]) == ("570.124.06", "570")
    assert (told["cuda.runtime-version.full"], told["mig.capable"]) == ("12.8", "true")
    assert (told["pci-10de.present"], told["kernel-version.full"]) == ("true", "5.15.0-126-generic")
    asked = "jsonpath={.status.capacity.nvidia\\.com/gpu} {.status.allocatable.nvidia\\.com/gpu}"
    assert kubectl("get", "node", "n0", "-o", asked) == (0, "8 7")
    chosen = kubectl("get", "nodes", "-l", "nvidia.com/gpu.family=hopper", "-o", "name")
    assert len(chosen[1].split()) == 4


@pytest.mark.parametrize(
    ("selector", "count"),
    [
        ("nvidia.com/gpu.present=true,nvidia.com/gpu.family in (hopper, ampere)", 4),
        ("kubernetes.io/hostname notin (n0,n2)", 2),
        ("kubernetes.io/hostname in (n1)", 1),
        ("rack notin (a)", 4),
        ("!rack,kubernetes.io/os==linux", 4),
    ],
)
def test_selectors_name_sets(kubectl, selector, count):
    """Commas within parentheses belong to the set; a label that is missing is in none."""
    status, said = kubectl("get", "nodes", "-l", selector, "-o", "name")
    assert (status, len(said.split())) == (0, count)


def test_a_node_is_patched(kubectl):
    """Unschedulable is a cordon, as a node's labels are labels; the rest proves nothing."""
    patch = '{"spec":{"unschedulable":true},"metadata":{"labels":{"repair":"yes"}}}'
    assert kubectl("patch", "node", "n0", "-p", patch) == (0, "node/n0 patched\n")
    assert kubectl.world.cluster.nodes["n0"].drain is not None
    assert kubectl("patch", "node/n0", "--patch", patch)[1] == "node/n0 patched (no change)\n"
    assert kubectl("get", "nodes", "-l", "repair=yes", "-o", "name") == (0, "node/n0\n")
    undo = "spec: {unschedulable: false}\nmetadata: {labels: {repair: null}}"
    assert kubectl("patch", "node", "n0", "-p", undo)[0] == 0
    assert kubectl.world.cluster.nodes["n0"].drain is None
    assert kubectl("get", "nodes", "-l", "repair", "-o", "name") == (0, "")
    assert kubectl("patch", "node", "n0", "-p", '{"spec":{"podCIDR":""}}')[0] == NOT_UNDERSTOOD
    assert kubectl("get", "--raw", "/readyz") == (0, "ok")
