"""All rules together, under readings and lines that nobody has ever seen: none fails."""

import dataclasses
from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gputui.assess import Assessor
from gputui.incidents.rules import all_rules
from gputui.logs.job_event import JobEvent
from gputui.logs.kernel import KernelParser
from gputui.logs.text_facts import text_facts
from gputui.model import GpuSample, HostSample, LinkSample, NodeSample, PciGpu, ProcessSample
from gputui.silence import Silence

BUSES = ("0000:3b:00", "0000:5e:00", "0000:af:00", None)
NUMBERS = st.sampled_from([0, 1, 2, 7, 50, 90, 100, 1980, 10**6, 2**32, 2**63])
VALUES = {
    "int | None": st.none() | NUMBERS,
    "bool | None": st.none() | st.booleans(),
    "float | None": st.none() | st.sampled_from([0.0, 0.5, 21.0, 99.0, 1e9]),
    "str | None": st.none() | st.sampled_from(["", "completed", "in progress", "x", "active"]),
    "str": st.sampled_from(["", "active", "slot 3"]),
    "tuple[int, ...] | None": st.none() | st.lists(st.integers(0, 18), max_size=4).map(tuple),
    "tuple[str, ...] | None": st.none() | st.lists(st.sampled_from(["", *BUSES[:3]])).map(tuple),
    "Mapping[str, int]": st.dictionaries(st.sampled_from(["symbol_error", "x"]), NUMBERS),
    "Mapping[str, str]": st.just({}),
}


def anything(kind, **fixed):
    """Objects of a model type, each field with any value of its type, or left as it is."""
    names = {
        one.name: VALUES[str(one.type)]
        for one in dataclasses.fields(kind)
        if one.name not in fixed and str(one.type) in VALUES
    }
    some = st.lists(st.sampled_from(sorted(names)), max_size=12, unique=True)
    chosen = some.flatmap(lambda few: st.fixed_dictionaries({name: names[name] for name in few}))
    return st.tuples(st.fixed_dictionaries(fixed), chosen).map(
        lambda parts: kind(**{**parts[1], **parts[0]})
    )


def gpu(index):
    return anything(
        GpuSample,
        index=st.just(index),
        uuid=st.none() | st.just(f"GPU-{index}"),
        bus_id=st.sampled_from([BUSES[index], None]),
        return_code=st.sampled_from([0, 0, 0, 10, 15, 16, 999]),
    )


processes = anything(
    ProcessSample, pid=st.integers(1, 9), gpu=st.integers(0, 3), job=st.sampled_from([None, "a"])
)
ports = anything(LinkSample, name=st.sampled_from(["mlx5_0/1", "eth0"]))
nodes = st.builds(
    NodeSample,
    host=st.just("n0"),
    time_s=st.just(0.0),
    driver=st.sampled_from([None, "570.124.06", "not a version"]),
    gpu_count=st.integers(0, 4),
    gpus=st.tuples(*(gpu(index) for index in range(3))),
    processes=st.lists(processes, max_size=3).map(tuple),
    error=st.sampled_from([None, None, None, "NVML error"]),
    error_code=st.sampled_from([None, 9, 18, 999]),
    on_bus=st.sampled_from([None, (), (PciGpu("0000:3b:00", "nvidia"), PciGpu("0000:af:00"))]),
    host_readings=st.none() | anything(HostSample),
    links=st.lists(
        anything(LinkSample, name=st.sampled_from(["mlx5_0/1", "eth0"])), max_size=2
    ).map(tuple),
)
lines = st.builds(
    lambda bus, code, detail: f"NVRM: Xid (PCI:{bus}): {code}, {detail}",
    st.sampled_from(["0000:3b:00", "0000:5e:00", "0000:99:00"]),
    st.integers(0, 180),
    st.sampled_from(
        [
            "pid=3, name=python3, Ch 00000010",
            "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
            "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)",
            "Row Remapper: New row (0x1f) marked for remapping, reset gpu to activate.",
            "",
        ]
    ),
) | st.sampled_from(
    [
        "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.",
        "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.124.06",
        "pcieport 0000:3a:00.0: AER: Correctable error received: 0000:3b:00.0",
        "Linux version 6.8.0",
    ]
)
jobs = st.builds(
    lambda fact, job, rank: JobEvent(fact.id, fact.family, 0.0, "words", job=job, rank=rank),
    st.deferred(lambda: st.sampled_from(list(text_facts().values()))),
    st.sampled_from([None, "a", "b"]),
    st.none() | st.integers(0, 8),
)
silences = st.builds(Silence, st.sampled_from([3.0, 60.0]), st.sampled_from([None, -1, 0, 2]))
waits = st.sampled_from([0.0, 0.5, 1.0, 1.0, 1.0, 10.0, 700.0])
histories = st.lists(st.tuples(waits, nodes | lines | jobs | silences), max_size=25)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(histories)
def test_no_rule_fails_and_nothing_is_open_twice_whatever_comes(steps):
    """Missing, impossible and contradictory readings are normal in the field."""
    assessor = Assessor(interval_s=1.0)
    parser = KernelParser()
    now_s = 1_700_000_000.0
    for wait_s, step in steps:
        now_s += wait_s
        if isinstance(step, NodeSample):
            assessor.sample(dataclasses.replace(step, time_s=now_s))
        elif isinstance(step, Silence):
            assessor.silent(now_s, step)
        elif isinstance(step, JobEvent):
            assessor.hear_job(dataclasses.replace(step, time_s=now_s))
        elif (event := parser.parse(step, now_s)) is not None:
            assessor.hear(event)
        shown = assessor.refreshed()
        if shown is None:
            continue
        ids = Counter(one.id for one in shown.incidents)
        assert all(count == 1 for count in ids.values())
        assert all(one.parent is None or one.parent in ids for one in shown.incidents)
        assert assessor.next_look_s is None or assessor.next_look_s > 0


def test_every_rule_says_how_it_ends():
    """A rule that never clears would be an alarm for ever."""
    for rule in all_rules():
        assert rule.clears.seconds > 0 or rule.clears.samples >= 1
        assert rule.on_sample or rule.on_log or rule.on_job
