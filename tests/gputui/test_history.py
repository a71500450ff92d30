"""What rules may look back on."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gputui.incidents.history import WINDOW_S, History
from gputui.model import GpuSample, NodeSample

steps = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0, 30.0, 200.0]), st.frozensets(st.integers(0, 2))),
    max_size=40,
)


def value(gpu):
    return gpu.temperature_c


@settings(deadline=None)
@given(steps, st.integers(0, 3))
def test_one_gpus_readings_are_those_of_the_samples_there_are(steps, passed_over):
    """Also where GPUs come and go, of samples of one moment, after gaps and looks passed over."""
    past = History()
    now_s = 0.0
    for number, (wait_s, there) in enumerate(steps):
        past.add_unchanged(now_s + wait_s * part / 4 for part in range(1, passed_over + 1))
        now_s += wait_s
        gpus = tuple(GpuSample(index, temperature_c=number) for index in sorted(there))
        past.add_sample(NodeSample("n0", now_s, gpus=gpus))
        for index in range(3):
            expected = [
                (sample.time_s, gpu.temperature_c)
                for sample in past.samples
                for gpu in sample.gpus
                if gpu.index == index and sample.time_s >= now_s - WINDOW_S
            ]
            assert past.series(index, value) == expected


def test_memory_is_bounded_however_fast_samples_come():
    """A minute and a half of readings ten times a millisecond would be many."""
    past = History()
    for number in range(3000):
        past.add_sample(NodeSample("n0", number / 10_000, gpus=(GpuSample(0, temperature_c=1),)))
    assert len(past.samples) == len(past.series(0, value)) <= 1000
