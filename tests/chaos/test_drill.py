"""A scenario in virtual time: what is expected, what came, and the verdict."""

import json
import signal
import subprocess
import sys
import time

import pytest

from chaos.errors import UsageError
from chaos.format.loader import load
from chaos.journal_file import read_journal
from chaos.verdict import Verdict, judge
from chaos.virtual.drill import drill

HEAT = """\
scenario: drill
why: A blocked airway heats one GPU.
given:
  jobs: [{id: train, gpus: "n0/*"}]
timeline:
  - {id: block, at: 30s, thermal: {gpu: n0/3, airflow: 20%}}
  - {id: clear, at: 3m, heal: block}
"""
QUIET = HEAT.replace("airflow: 20%", "airflow: 100%")
NOTICED = "  - {incident: GpuThermalThrottle, gpu: n0/3, cause: heat-sink, within: 2m}\n"


@pytest.fixture
def run(tmp_path):
    """Run a scenario; its result. Its journal lies beside it."""

    def build(text, *, seed=None):
        path = tmp_path / "drill.yaml"
        path.write_text(text, encoding="utf-8")
        with (tmp_path / "journal.jsonl").open("w", encoding="utf-8") as out:
            return drill(load(path), seed=seed, out=out)

    return build


def outcomes(result):
    return [(one.outcome.ok, one.outcome.why) for one in result.judged]


def test_what_comes_in_time_passes_with_its_time_measured(run):
    """The time to detect counts from the first entry, and its margin from the deadline."""
    result = run(HEAT + "expect:\n" + NOTICED)
    (one,) = result.judged
    assert result.verdict is Verdict.PASS
    assert 0 < one.outcome.measured_us < 120_000_000
    assert one.timing.deadline_us == 150_000_000


def test_without_the_fault_the_same_scenario_fails(run):
    """An expectation that passes when nothing breaks proves nothing."""
    result = run(QUIET + "expect:\n" + NOTICED)
    assert result.verdict is Verdict.FAIL
    assert outcomes(result) == [(False, "did not open in 120 s")]


def test_another_cause_or_gpu_is_not_what_was_expected(run):
    """What came instead is told."""
    other = NOTICED.replace("cause: heat-sink", "cause: room")
    (one,) = run(HEAT + "expect:\n" + other).judged
    assert not one.outcome.ok
    assert "GPU 3, with cause heat-sink, but not as expected" in one.outcome.why


def test_a_state_that_never_came_is_told_as_it_was_at_last(run):
    """Not as it was when it ended to hold: how far what was done went shows at the deadline."""
    cool = '  - {state: {gpu: n0/3, temperature: "< 70C"}, within: 5m}\n'
    fault = HEAT.replace("  - {id: clear, at: 3m, heal: block}\n", "")
    (one,) = run(fault + "expect:\n" + cool).judged
    assert not one.outcome.ok
    assert float(one.outcome.why.split()[1]) > 85


def test_what_comes_too_late_fails_with_its_time(run):
    """It is still measured: by how much it was late is what people want to know."""
    late = NOTICED.replace("within: 2m", "within: 10s")
    result = run(HEAT + "expect:\n" + late + NOTICED)
    assert [one.outcome.ok for one in result.judged] == [False, True]


def test_an_incident_that_nothing_expects_is_a_false_page(run):
    """Unless its kind is allowed."""
    state = "expect:\n  - {state: {gpu: n0/3, throttled: true}, within: 2m}\n"
    result = run(HEAT + state)
    assert result.verdict is Verdict.FAIL
    assert [(page.kind, page.subject) for page in result.false_pages] == [
        ("GpuThermalThrottle", "n0/3")
    ]
    assert run(HEAT + state + "allow: [GpuThermalThrottle]\n").verdict is Verdict.PASS


def test_a_state_has_to_hold(run):
    """It counts from when it began to hold for so long."""
    hot = '  - {state: {gpu: n0/3, temperature: ">= 85C"}, within: 2m, hold: 1m}\n'
    long = hot.replace("hold: 1m", "hold: 10m")
    cool = "  - {state: {gpu: n0/3, throttled: false}, from: clear, within: 1m, hold: 1m}\n"
    result = run(HEAT + "expect:\n" + NOTICED + hot + long + cool)
    assert [one.outcome.ok for one in result.judged] == [True, True, False, True]


def test_a_state_that_is_broken_before_its_deadline_has_to_come_back(run):
    """That it held when the fault came, and for a while after, proves nothing."""
    well = "  - {state: {gpu: n0/3, throttled: false}, within: 2m}\n"
    other = "  - {state: {gpu: n0/4, throttled: false}, within: 2m}\n"
    result = run(HEAT + "expect:\n" + NOTICED + well + well.replace("2m", "6m") + other)
    assert [one.outcome.ok for one in result.judged] == [True, False, True, True]
    assert result.judged[2].outcome.measured_us == 150_000_000
    assert result.judged[3].outcome.measured_us == 0


def test_a_burst_is_one_incident(run):
    """``times`` counts openings in the whole run: too many fail as too few do."""
    burst = HEAT.replace("thermal: {gpu: n0/3, airflow: 20%}", "xid: {gpu: n0/3, code: 13}")
    burst = burst.replace("  - {id: clear, at: 3m, heal: block}\n", "")
    once = "  - {incident: GpuXid, gpu: n0/3, within: 30s, times: 1}\n"
    twice = once.replace("times: 1", "times: 2")
    result = run(burst + "expect:\n" + once + twice)
    assert outcomes(result) == [(True, "1 opened"), (False, "1 opened, 2 expected")]


def test_lines_of_the_log_are_found(run):
    """``*`` stands for anything, and case does not matter."""
    text = HEAT.replace("thermal: {gpu: n0/3, airflow: 20%}", "xid: {gpu: n0/3, code: 79}")
    text = text.replace("  - {id: clear, at: 3m, heal: block}\n", "")
    line = '  - {log: "*xid*: 79,*FALLEN off*", node: n0, within: 5s}\n'
    allow = "allow: [GpuLost, GpuXid]\n"
    result = run(text + "expect:\n" + line + line.replace("79", "80") + allow)
    assert [one.outcome.ok for one in result.judged] == [True, False]


def test_what_must_never_happen_is_found(run):
    """An incident that is forbidden fails the run when it opens."""
    never = "  - {never: {incident: GpuThermalThrottle, gpu: n0/3}}\n"
    other = "  - {never: {incident: GpuThermalThrottle, gpu: n0/4}}\n"
    result = run(HEAT + "expect:\n" + never + other)
    assert outcomes(result) == [(False, "happened"), (True, "did not happen")]


def test_until_ends_what_must_never_happen(run):
    """From the moment at which the state holds, the deed is free."""
    until = "until: {gpu: n0/3, throttled: true}"
    never = f"  - {{never: {{incident: GpuThermalThrottle}}, {until}}}\n"
    assert run(HEAT + "expect:\n" + NOTICED + never).verdict is Verdict.PASS


def test_until_waits_for_a_state_that_comes_after_the_fault(run):
    """One that held before anything broke does not end what must never happen."""
    never = "  - {never: {incident: GpuThermalThrottle}, until: {gpu: n0/3, throttled: false}}\n"
    result = run(HEAT + "expect:\n" + NOTICED + never)
    assert outcomes(result)[1] == (False, "happened")


def test_the_monitor_expects_as_many_gpus_as_are_given(run):
    """Of a node that has fewer it says so, here before anything broke."""
    given = HEAT.replace("given:\n", "given:\n  expected_gpus: 9\n")
    missing = "  - {incident: GpuMissing, node: n0, within: 10s}\n"
    result = run(given + "expect:\n" + NOTICED + missing)
    ok, why = outcomes(result)[1]
    assert not ok
    assert why.startswith("opened only before it was to, in line ")


def test_a_steady_state_has_to_come_back(run):
    """It is looked at again when everything has been healed."""
    steady = HEAT.replace("given:\n", 'given:\n  steady: [{gpu: n0/3, temperature: "< 80C"}]\n')
    result = run(steady + "expect:\n" + NOTICED)
    assert result.verdict is Verdict.FAIL
    assert "n0/3" in result.unsteady[0]


def test_a_steady_state_has_to_hold_before_anything_breaks(run):
    """What was never so cannot come back."""
    steady = HEAT.replace("given:\n", 'given:\n  steady: [{gpu: n0/3, temperature: "< 20C"}]\n')
    result = run(steady + "expect:\n" + NOTICED)
    assert result.verdict is Verdict.FAIL
    assert "before anything broke: n0/3" in result.unsteady[0]


def test_a_fault_that_cannot_be_applied_leaves_the_verdict_unknown(run):
    """Unknown outranks fail: nobody can say what would have been."""
    text = HEAT.replace("thermal: {gpu: n0/3, airflow: 20%}", "power: {gpu: n0/3, cap: 9W}")
    text = text.replace("  - {id: clear, at: 3m, heal: block}\n", "")
    result = run(text + "expect:\n" + NOTICED)
    assert result.verdict is Verdict.UNKNOWN
    assert "9W" in result.unknown[0]


@pytest.mark.parametrize("missing", ["timeline", "expect"])
def test_a_scenario_that_proves_nothing_is_refused(run, missing):
    """No timeline, or no expectation."""
    expect = "expect:\n" + NOTICED
    text = {"timeline": HEAT[: HEAT.index("timeline:")] + expect, "expect": HEAT}[missing]
    with pytest.raises(UsageError, match="a test needs"):
        run(text)


def test_the_same_scenario_and_seed_write_the_same_journal(run, tmp_path):
    """Byte for byte; another seed another."""
    text = HEAT + "expect:\n" + NOTICED
    journals = []
    for seed in (0, 0, 7):
        run(text, seed=seed)
        journals.append((tmp_path / "journal.jsonl").read_bytes())
    assert journals[0] == journals[1] != journals[2]


def test_the_verdict_is_read_from_the_journal_alone(run, tmp_path):
    """Whoever has the file comes to the same verdict, with the same times."""
    result = run(HEAT + "expect:\n" + NOTICED)
    again = judge(load(tmp_path / "drill.yaml"), read_journal(tmp_path / "journal.jsonl").records)
    assert again.judged == result.judged
    assert again.verdict is result.verdict


def test_a_line_that_was_cut_short_is_left_out(run, tmp_path):
    """A harness that was killed loses no line that was written."""
    run(HEAT + "expect:\n" + NOTICED)
    path = tmp_path / "journal.jsonl"
    whole = read_journal(path).records
    path.write_bytes(path.read_bytes()[:-5])
    assert read_journal(path).records == whole[:-1]
    path.write_text("{}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r":1:1: is no line of a journal"):
        read_journal(path)


def test_every_line_of_the_journal_is_json(run, tmp_path):
    """With its time and its event first."""
    run(HEAT + "expect:\n" + NOTICED)
    for line in (tmp_path / "journal.jsonl").read_text(encoding="utf-8").splitlines():
        assert list(json.loads(line))[:2] == ["t", "event"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_test_that_is_interrupted_ends_with_a_verdict(tmp_path, number):
    """Unknown, in the journal and in the reports, with the signal's exit status."""
    file, journal, report = (tmp_path / name for name in ("drill.yaml", "a.jsonl", "a.json"))
    file.write_text(HEAT + "expect:\n" + NOTICED + "stop: {after: 2001h}\n", encoding="utf-8")
    late = "  - {state: {gpu: n0/3, temperature: '> 200C'}, within: 2000h}\nstop:"
    file.write_text(file.read_text(encoding="utf-8").replace("stop:", late), encoding="utf-8")
    words = [sys.executable, "-m", "chaos", "test", str(file)]
    process = subprocess.Popen([*words, "--journal", str(journal), "--json", str(report)])
    until_s = time.monotonic() + 60
    while (
        process.poll() is None
        and time.monotonic() < until_s
        and not (journal.exists() and '"event":"fault"' in journal.read_text(encoding="utf-8"))
    ):
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    last = json.loads(journal.read_text(encoding="utf-8").splitlines()[-1])
    assert (last["event"], last["verdict"]) == ("verdict", "unknown")
    assert "interrupted" in json.loads(report.read_text(encoding="utf-8"))["unknown"][0]
