"""The capture format: what is written is read back, and what is wrong is said clearly."""

import io
import json
from dataclasses import fields

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gputui.model import (
    Action,
    Ancestor,
    GpuSample,
    GpuState,
    GpuStatus,
    HostSample,
    Incident,
    LinkSample,
    ListenerSample,
    LogLine,
    MigInstance,
    NodeSample,
    PciGpu,
    ProcessSample,
    Severity,
    TcpSample,
)
from gputui.recording import (
    CaptureReader,
    CaptureWriter,
    ForeignRecord,
    IncidentRecord,
    LogRecord,
    RecordingError,
    SampleRecord,
    StartRecord,
    incident_object,
    node_object,
)

printables = st.characters(
    codec="utf-8", exclude_categories=("C", "Z"), include_characters=" "
)  # what str.isprintable says yes to
texts = st.text(printables, max_size=20)
counts = st.integers(0, 2**63)
seconds = st.floats(0, 4e9)
BY_ANNOTATION = {
    "int": counts,
    "float": seconds,
    "str": texts,
    "bool": st.booleans(),
    "tuple[int, ...]": st.lists(counts, max_size=3).map(tuple),
    "tuple[str, ...]": st.lists(texts, max_size=3).map(tuple),
    "Mapping[str, str]": st.dictionaries(texts, texts, max_size=3),
    "Mapping[str, int]": st.dictionaries(texts, counts, max_size=3),
    "tuple[MigInstance, ...]": st.lists(
        st.builds(MigInstance, counts, counts, uuid=texts, profile=texts), max_size=2
    ).map(tuple),
    "Severity": st.sampled_from(Severity),
    "Action": st.sampled_from(Action),
}


def any_of(kind, **given):
    """Every field of a model type, by its annotation."""
    for field in fields(kind):
        if field.name not in given:
            plain = field.type.removesuffix(" | None")
            values = BY_ANNOTATION[plain]
            given[field.name] = st.none() | values if plain != field.type else values
    return st.builds(kind, **given)


gpu_samples = any_of(GpuSample)
node_samples = any_of(
    NodeSample,
    gpus=st.lists(gpu_samples, max_size=2).map(tuple),
    processes=st.lists(any_of(ProcessSample), max_size=3).map(tuple),
    on_bus=st.lists(any_of(PciGpu), max_size=3).map(tuple),
    host_readings=st.none() | any_of(HostSample),
    links=st.lists(any_of(LinkSample), max_size=3).map(tuple),
    tcp=st.none() | any_of(TcpSample),
    listeners=st.lists(any_of(ListenerSample), max_size=3).map(tuple),
    ancestors=st.lists(any_of(Ancestor), max_size=3).map(tuple),
)


def written(write) -> list[str]:
    out = io.StringIO()
    write(CaptureWriter(out))
    return out.getvalue().split("\n")[:-1]


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(node_samples)
def test_a_sample_is_read_back_as_it_was(sample):
    """Every reading of every type survives the pipe, the missing ones with their reasons."""
    start, line = written(lambda capture: capture.sample(sample))
    reader = CaptureReader()
    assert reader.read(start) == StartRecord(sample.time_s, sample.host)
    assert reader.read(line) == SampleRecord(0, sample)


@given(any_of(Incident), seconds)
def test_an_incident_is_read_back_as_it_was(incident, time_s):
    """Incidents keep every field, their enumerations as words."""
    line = written(lambda capture: capture.incident(incident, time_s))[-1]
    record = CaptureReader().read(line)
    assert isinstance(record, IncidentRecord)
    assert record.incident == incident


@given(texts, texts, seconds, st.floats(0, 1e6))
def test_a_log_line_keeps_its_time(source, text, epoch_s, after_s):
    """A log line's time is the start plus its ``t``, to the microsecond."""

    def write(capture):
        capture.start("n0", epoch_s)
        capture.log(LogLine(epoch_s + after_s, source, text))

    *_, record = CaptureReader().read_all(written(write))
    assert isinstance(record, LogRecord)
    assert (record.line.source, record.line.text) == (source, text)
    assert record.line.time_s == pytest.approx(epoch_s + after_s, abs=1e-5)


def test_the_start_goes_out_before_the_first_record():
    """A capture always says when it began, even if its writer does not."""
    sample = NodeSample(host="n0", time_s=50.0)
    lines = [json.loads(line) for line in written(lambda capture: capture.sample(sample))]
    assert lines[0] == {"t": 0, "event": "start", "epoch_s": 50.0, "host": "n0"}
    assert lines[1]["event"] == "sample"


def test_unknown_names_and_events_are_passed_over():
    """A newer writer's additions do not stop an older reader."""
    reader = CaptureReader()
    sample = reader.read(
        '{"t":1,"event":"sample","host":"n0","time_s":1,"novelty":[],"gpus":[{"index":0,"qubits":3}]}'
    )
    assert sample == SampleRecord(1, NodeSample("n0", 1, gpus=(GpuSample(0),)))
    assert reader.read('{"t":2,"event":"fault","id":"hot"}') == ForeignRecord(2, "fault")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"t":1,"event":"sample","host":"n0","time_s":1,"gpus":[{"index":0,"power_mw":"hot"}]}',
         'gpus[0].power_mw: found "hot", expected an integer or null'),
        ('{"t":1,"event":"sample","host":"n0","time_s":1,"gpus":[{"uuid":"GPU-1"}]}',
         "gpus[0].index: found nothing, expected a value"),
        ('{"t":1,"event":"sample","host":"n0","time_s":true}',
         "time_s: found true, expected a number"),
        ('{"t":1,"event":"sample","host":"n0","time_s":1,"gpus":{}}',
         "gpus: found {}, expected a list"),
        ('{"t":1,"event":"log","source":"kernel"}', "text: found nothing, expected text"),
        ('{"event":"log"}', "t: found nothing, expected a number"),
        ('[1,2]', "the line: found [1, 2], expected an object"),
        ('{"t":NaN,"event":"start"}', "not JSON (NaN is no number in JSON)"),
        ("NVRM: Xid", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"t":1,"event":"incident","incident":{"severity":"dire"}}', "incident.id: found nothing"),
    ],
)  # fmt: skip
def test_a_wrong_line_says_where_and_what_was_expected(line, complaint):
    """Errors name the file, the line, the field, what stood there and what should."""
    reader = CaptureReader("run.jsonl")
    reader.read("")
    with pytest.raises(RecordingError) as error:
        reader.read(line)
    assert str(error.value).startswith("run.jsonl, line 2: ")
    assert complaint in str(error.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"index": True},
        {"index": None},
        {"power_mw": "641"},
        {"power_mw": 641.0},
        {"name": 7},
        {"missing": {"power_mw": 3}},
        {"nvlinks_down": [1, "2"]},
    ],
)
def test_a_wrong_value_is_refused_whatever_was_read_before(wrong):
    """Many good samples of the same shape do not lower the guard."""
    good = {"index": 0, "power_mw": 641, "name": "x", "missing": {"fan_percent": "not supported"}}
    good["nvlinks_down"] = [1]
    reader = CaptureReader()

    def read(gpu):
        sample = {"t": 0, "event": "sample", "host": "n0", "time_s": 1.0, "gpus": [gpu]}
        return reader.read(json.dumps(sample))

    for _ in range(3):
        (gpu,) = read(good).sample.gpus
        assert (gpu.power_mw, gpu.missing, gpu.nvlinks_down) == (641, good["missing"], (1,))
    with pytest.raises(RecordingError, match=next(iter(wrong))):
        read({**good, **wrong})


@given(st.binary(max_size=200))
def test_no_bytes_crash_the_reader(data):
    """Whatever comes down a pipe is a record, nothing, or an error in words."""
    try:
        CaptureReader().read(data)
    except RecordingError as error:
        assert "line 1" in str(error)


def test_each_gpu_carries_its_state_when_it_is_known():
    """The monitor's own output says state, since when, and leaves out readings that are old."""
    sample = NodeSample("n0", 100.0, gpus=(GpuSample(0, power_mw=1), GpuSample(1, power_mw=1)))
    statuses = (
        GpuStatus(0, GpuState.OK, since_s=40.0),
        GpuStatus(1, GpuState.LOST, since_s=58.0, age_s=42.0, reason="no answer on the bus"),
    )
    well, lost = node_object(sample, statuses)["gpus"]
    assert (well["state"], well["state_s"], well["power_mw"]) == ("ok", 60.0, 1)
    assert (lost["state"], lost["state_s"], lost["power_mw"]) == ("lost", 42.0, None)
    assert lost["missing"]["power_mw"] == "no answer on the bus"


def test_an_incident_is_written_in_words():
    """Severity and action are words of the vocabulary, for machines that read it."""
    incident = Incident(
        id="a", kind="GpuLost", subject="gpu:GPU-1", host="n0", severity=Severity.CRITICAL,
        opened_s=1.0, cause="bus", cause_text="", action=Action.POWER_CYCLE, action_text="",
    )  # fmt: skip
    shown = incident_object(incident)
    assert (shown["severity"], shown["action"], shown["gpu"]) == ("critical", "power_cycle", None)


@pytest.mark.parametrize("as_bytes", [False, True])
@pytest.mark.parametrize("evil", ["\x1b[2J", "\x9b2J", "\x7f", "\nforged", "\u202e", "\r"])
def test_no_text_of_a_capture_keeps_what_a_terminal_obeys(evil, as_bytes):
    """Whoever wrote it: names, reasons and log lines come out on one line, printable."""
    texts = io.StringIO()
    writer = CaptureWriter(texts)
    gpu = GpuSample(0, name=f"H100{evil}", missing={f"fan{evil}": f"none{evil}"})
    process = ProcessSample(7, 0, command=f"python{evil}")
    writer.sample(NodeSample(f"n0{evil}", 1.0, gpus=(gpu,), processes=(process,)))
    writer.log(LogLine(2.0, "kernel", f"NVRM: Xid{evil}\tpid"), "n0")
    lines = [line for line in texts.getvalue().split("\n") if line]
    reader = CaptureReader()
    records = list(reader.read_all(line.encode() if as_bytes else line for line in lines))
    sample, log = records[1].sample, records[2].line
    read = (sample.host, sample.gpus[0].name, sample.processes[0].command, log.text)
    assert all(text.isprintable() for text in read)
    assert all(text.isprintable() for pair in sample.gpus[0].missing.items() for text in pair)
    assert log.text.endswith(" pid")
