"""GPUs that fail again and again: counted by failure, remembered, and told with their board."""

import random
from dataclasses import replace

import pytest

from gputui.assess import Assessor
from gputui.incidents.engine import Engine
from gputui.incidents.failures import Failures
from gputui.incidents.past_runs import PastRuns
from gputui.incidents.rules import all_rules
from gputui.logs.kernel import KernelEvent
from gputui.model import Action, HostSample, Incident, Severity
from gputui.state import MOST_CLEARED

DAY_S = 86_400.0


class Server:
    """A node whose GPUs are lost and come back, watched in long strides."""

    def __init__(self, make) -> None:
        self.make = make
        self.engine = Engine(all_rules(), interval_s=1.0)

    def fails(self, gpu, day, *, code=79):
        """Lost for two minutes on a day, with its Xid."""
        start_s = day * DAY_S
        self.engine.sample(self.make.node(start_s - 1))
        self.engine.log(self.make.xid(start_s, gpu, code))
        for second in range(3):
            self.engine.sample(self.make.node(start_s + second, self.make.lost(gpu)))
        for second in range(120, 130):
            self.engine.sample(self.make.node(start_s + second))
        return self

    def looked_at(self, day, *changed):
        self.engine.sample(self.make.node(day * DAY_S, *changed))
        return self

    @property
    def lemons(self):
        return [one for one in self.engine.incidents if one.kind == "LemonGpu"]


@pytest.fixture
def server(make):
    return Server(make)


def test_a_gpu_that_failed_three_times_in_a_month_is_to_be_replaced(server, make):
    """The third failure tells it: which board, how often, when."""
    server.fails(3, 1).fails(3, 9)
    assert server.lemons == []
    server.fails(3, 20)
    (lemon,) = server.lemons
    assert (lemon.gpu, lemon.cause, lemon.action) == (3, "repeat-offender", Action.REPLACE_GPU)
    assert lemon.severity is Severity.WARNING
    assert lemon.cause_text.startswith("3 failures within 19d, the last: ")
    assert len(lemon.evidence) == 3
    assert f"PCI {make.BUSES[3]}" in lemon.action_text


def test_failures_of_different_gpus_are_different_gpus(server):
    """Three GPUs that fail once each are bad luck."""
    assert server.fails(1, 1).fails(2, 2).fails(3, 3).lemons == []


def test_a_burst_is_one_failure(server, make):
    """What follows within three minutes, of whatever kind and number, is the same failure."""
    server.fails(3, 1)
    for second in range(0, 3600, 30):
        server.engine.log(make.xid(2 * DAY_S + second, 3, 119))
        server.engine.log(make.xid(2 * DAY_S + second, 3, 95))
    assert server.looked_at(2.05).lemons == []


def test_an_error_that_comes_back_all_day_is_a_repeated_failure(server, make):
    """Its incident goes on, and yet it has happened again and again."""
    server.looked_at(0.9)
    for hour in range(3):
        server.engine.log(make.xid((1 + hour / 24) * DAY_S, 3, 95))
    assert len(server.looked_at(1.2).lemons) == 1


def test_while_it_fails_the_lemon_hangs_under_its_failure(server, make):
    """One cause on the screen; on its own when the GPU works again."""
    server.fails(3, 1).fails(3, 9)
    for second in range(5):
        server.engine.sample(make.node(20 * DAY_S + second, make.lost(3)))
    (lemon,) = server.lemons
    (lost,) = [one for one in server.engine.incidents if one.kind == "GpuLost"]
    assert lemon.parent == lost.id
    server.looked_at(20.1).looked_at(20.2).looked_at(20.3).looked_at(20.4)
    assert [one.parent for one in server.lemons] == [None]


def test_old_failures_no_longer_count(server):
    """Once a month is no lemon, and a lemon that is good for a month is none any more."""
    assert server.fails(3, 1).fails(3, 21).fails(3, 41).fails(3, 61).lemons == []
    assert len(server.fails(3, 65).fails(3, 70).lemons) == 1
    assert server.looked_at(99).looked_at(99.1).lemons == []


def test_a_board_in_its_place_begins_anew(server, make):
    """Failures are the board's, not the slot's."""
    server.fails(3, 1).fails(3, 9).fails(3, 20)
    new = make.gpu(3, uuid="GPU-000000ff")
    assert server.looked_at(21, new).looked_at(21.1, new).lemons == []


def test_failures_are_remembered_over_restarts(make):
    """Each failure in a run of its own, with a reboot between them."""
    state = None
    for boot, day in enumerate((1, 9, 20)):
        assessor = Assessor(interval_s=1.0)
        host = HostSample(boot_id=f"boot-{boot}", uptime_s=100.0)
        first = replace(make.node(day * DAY_S), host_readings=host)
        if state is not None:
            assessor.recall(state, first)
        assessor.sample(first)
        for second in range(1, 4):
            sample = make.node(day * DAY_S + second, make.lost(3))
            snapshot = assessor.sample(replace(sample, host_readings=host))
        assessor.changes()
        state = assessor.state
    assert "LemonGpu" in [one.kind for one in snapshot.incidents]


def test_mild_incidents_do_not_wash_failures_from_memory(make):
    """A job that warns all day is forgotten before a GPU that was lost."""
    lost = Incident(
        "lost", "GpuLost", "gpu:GPU-00000003", "n0", Severity.CRITICAL, 1.0, "bus", "x",
        Action.POWER_CYCLE, "y", cleared_s=2.0,
    )  # fmt: skip
    past = PastRuns()
    past.note([lost])
    for number in range(2000):
        mild = replace(lost, id=f"{number}", kind="GpuXid", severity=Severity.WARNING)
        past.note([mild])
    kept = [one.id for one in past.cleared]
    assert len(kept) == MOST_CLEARED
    assert kept[0] == "lost"
    assert kept[-1] == "1999"


def fleet_log(offenders, events, years=5):
    """The Xids of a big machine's log: most GPUs fail once, some again and again."""
    dice = random.Random(1)
    moments = []
    for number in range(events):
        name = f"0000:{dice.randrange(18_688):04x}:00"
        if number < 5 * len(offenders):
            name = offenders[number // 5]
            day = 200 + 6 * (number % 5) + number // 5
        else:
            day = dice.uniform(0, 365 * years)
        moments.append((day * DAY_S, name, dice.choice((48, 79))))
    for time_s, name, code in sorted(moments):
        text = f"NVRM: Xid (PCI:{name}): {code}, x"
        yield KernelEvent("xid", time_s, text, bus_id=name, code=code, detail="x")


def test_a_big_machines_log_tells_every_repeat_offender():
    """Every failure is counted and every repeat offender found, in log alone."""
    offenders = [f"ffff:{number:04x}:00" for number in range(40)]
    engine = Engine(all_rules(), interval_s=1.0)
    told = {}
    failures = 0
    for event in fleet_log(offenders, 2000):
        engine.log(event)
        engine.pass_time(event.time_s)
        for one in engine.changes():
            if one.kind == "LemonGpu":
                told[one.subject] = one
            elif one.kind == "GpuXid" and one.cleared_s is None:
                failures += 1
    assert {f"gpu:{name}" for name in offenders} <= set(told)
    assert failures >= 1900


def test_the_memory_of_failures_is_bounded(make):
    """A GPU that fails without end is remembered by its last failures."""
    server = Server(make)
    server.fails(3, 1)
    (grave, *_) = [one for one in server.engine.cleared if one.kind == "GpuLost"]
    failures = Failures()
    for day in range(1000):
        failures.note(replace(grave, opened_s=day * DAY_S))
    assert len(failures.since(grave.subject, 0)) == 50
