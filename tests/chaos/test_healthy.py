"""A healthy node, for days: jobs come and go, links doze, somebody caps the power. No alarm."""

import random

import pytest

from fakes.jobs.process import JobSpec
from fakes.profile import models
from gputui.model import Severity

HOUR_S = 3600.0
DAY_S = 24 * HOUR_S


class HealthyLoad:
    """Ordinary life on a node, from a seed: jobs on some of its GPUs, caps, dozing links, hiccups.

    One NVML call fails once a day, as the driver's do when a program has just ended.
    """

    def __init__(self, run, seed):
        self._run = run
        self._chance = random.Random(seed)
        self._gpus = range(len(run.node.gpus))
        self._memory = run.node.gpus[0].capacity_bytes
        self._running = {}
        self._dozes_until_s = {}
        self._number = 0
        self._hiccup_s = self._chance.uniform(0, DAY_S)

    def live(self, seconds):
        """Let so much time pass."""
        end_s = self._run.now_s + seconds
        while self._run.now_s < end_s:
            self._run.run(min(self._chance.expovariate(1 / 900), end_s - self._run.now_s))
            if self._run.now_s >= self._hiccup_s:
                self._hiccup_s += DAY_S
                self._run.inject(
                    "nvml", gpu=self._some_gpu(), reading="power", code="unknown", for_s=1
                )
            self._chance.choice([self._start, self._start, self._end, self._cap, self._doze])()

    def _some_gpu(self):
        return self._chance.choice(self._gpus)

    def _free(self):
        now_s = self._run.now_s
        return [
            gpu
            for gpu in self._gpus
            if not self._run.gpu(gpu).uses and self._dozes_until_s.get(gpu, 0.0) <= now_s
        ]

    def _start(self):
        free = self._free()
        if not free:
            return
        count = self._chance.randint(1, len(free))
        self._number += 1
        job = JobSpec(
            f"job{self._number}",
            tuple(sorted(self._chance.sample(free, count))),
            load=self._chance.uniform(0.4, 1.0),
            memory_bytes=int(self._memory * self._chance.uniform(0.1, 0.9)),
        )
        self._running[job.id] = [process.pid for process in self._run.start_job(job)]

    def _end(self):
        if self._running:
            job = self._chance.choice(sorted(self._running))
            for pid in self._running.pop(job):
                self._run.node.end_process(pid, self._run.world.now_us)
            self._run.changed()

    def _cap(self):
        gpu = self._some_gpu()
        power = self._run.gpu(gpu).profile.power
        watts = self._chance.randint(power.limit_min_mw // 1000, power.limit_mw // 1000)
        self._run.inject("power", gpu=gpu, cap=f"{watts}W", for_s=self._chance.uniform(60, 7200))

    def _doze(self):
        """The PCIe link of an idle GPU runs at its lowest speed for a while."""
        free = self._free()
        if free:
            gpu = self._chance.choice(free)
            for_s = self._chance.uniform(10, 600)
            self._dozes_until_s[gpu] = self._run.now_s + for_s
            self._run.inject("pcie", gpu=gpu, generation=1, for_s=for_s)


def alarms(run):
    """What was told that is worse than information."""
    return [
        (one.incident.id, one.incident.cause_text)
        for one in run.told
        if one.incident.severity > Severity.INFO
    ]


@pytest.mark.parametrize("model", models())
def test_two_days_of_ordinary_life_raise_no_alarm(watched, model):
    """Noise, jobs, caps, dozing links and a hiccup are no incidents."""
    run = watched(model=model, gpus=4)
    HealthyLoad(run, seed=model).live(2 * DAY_S)
    assert run.run_of.problems == []
    assert alarms(run) == []
    assert run.watching.looked > 150


@pytest.mark.long
@pytest.mark.parametrize("model", models())
def test_a_month_of_ordinary_life_raises_no_alarm(watched, model):
    """The same for thirty days, on eight GPUs."""
    run = watched(model=model, gpus=8)
    HealthyLoad(run, seed=f"{model}/month").live(30 * DAY_S)
    assert alarms(run) == []


@pytest.mark.long
def test_a_day_of_ordinary_life_second_by_second_raises_no_alarm(watched):
    """Looking every second for 24 hours, as the live monitor does, shows nothing more."""
    run = watched(gpus=8, looks="polling", in_turn=True)
    HealthyLoad(run, seed="second by second").live(DAY_S)
    assert run.watching.looked >= DAY_S
    assert alarms(run) == []
