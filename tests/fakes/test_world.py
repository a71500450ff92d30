"""The world: memory, processes, Xids, and the order in which things happen."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from fakes.driver.xid import raise_xid
from fakes.hardware.thermal import NEVER_US
from fakes.world import World

SECOND = 1_000_000
GIB = 1 << 30
MakeWorld = Callable[..., World]


def readings(world: World, at_us: int) -> list[tuple[int, ...]]:
    return [
        (
            gpu.temperature_c(at_us),
            gpu.power_mw(at_us),
            gpu.sm_clock_mhz(at_us),
            gpu.utilization_percent(at_us),
            gpu.memory_used_bytes(at_us),
            gpu.energy_mj(at_us),
            gpu.pcie_kib_per_s(at_us, received=True),
            gpu.pcie_kib_per_s(at_us, received=False),
        )
        for gpu in world.gpus()
    ]


def test_same_seed_same_readings(make_world: MakeWorld) -> None:
    """Two worlds of one seed read alike at every moment; another seed's readings differ."""
    moments = [i * 977_777 for i in range(50)]
    one, same, other = make_world(seed=7), make_world(seed=7), make_world(seed=8)
    assert [readings(one, at) for at in moments] == [readings(same, at) for at in moments]
    assert [readings(one, at) for at in moments] != [readings(other, at) for at in moments]


def test_nothing_depends_on_when_it_is_asked(make_world: MakeWorld) -> None:
    """A GPU read every second and one read once, after a fault and its healing, agree."""
    often, once = make_world(), make_world()
    for world in (often, once):
        gpu = world.nodes["n0"].gpus[0]
        world.schedule(10 * SECOND, "a", lambda gpu=gpu: gpu.set_airflow(0.1, 10 * SECOND))
        world.schedule(90 * SECOND, "a", lambda gpu=gpu: gpu.set_airflow(1.0, 90 * SECOND))
    for second in range(120):
        often.advance(second * SECOND)
        readings(often, second * SECOND)
    often.advance(120 * SECOND)
    once.advance(120 * SECOND)
    assert readings(often, 120 * SECOND) == readings(once, 120 * SECOND)


def test_memory_is_conserved(make_world: MakeWorld) -> None:
    """What a GPU says is used is the sum of what its processes hold, and gone when they end."""
    world = make_world(gpus=1)
    node = world.nodes["n0"]
    gpu = node.gpus[0]
    (pid,) = node.processes
    assert gpu.memory_used_bytes(0) == gpu.uses[pid].memory.bytes_at(0) == 60 * GIB
    node.end_process(pid, SECOND)
    assert gpu.memory_used_bytes(SECOND) == 0
    assert node.processes == {}
    assert gpu.utilization_percent(2 * SECOND) == 0


@given(rate_mib=st.integers(1, 4096))
def test_growing_memory_ends_its_process_when_it_is_full(rate_mib: int) -> None:
    """The growing process ends at the solved moment, not before, and the GPU never holds more
    than it has.
    """
    from fakes.jobs.process import JobSpec
    from fakes.node import Node
    from fakes.profile import load_profile

    node = Node("n0", load_profile("h100-sxm"), 1)
    world = World([node])
    ((process),) = node.start_job(JobSpec("leaky", (0,), memory_bytes=60 * GIB), 0)
    gpu = node.gpus[0]
    gpu.grow(process.pid, rate_mib << 20, 0)
    full_us = world.next_us()
    expected_s = (gpu.capacity_bytes - 60 * GIB) / (rate_mib << 20)
    assert abs(full_us / SECOND - expected_s) < 0.001
    world.advance(full_us - 1)
    assert process.pid in node.processes
    assert gpu.memory_used_bytes(full_us - 1) <= gpu.capacity_bytes
    world.advance(full_us)
    assert process.pid not in node.processes
    assert gpu.memory_used_bytes(full_us) == 0


def test_xid_79_loses_the_gpu_and_says_so_in_the_kernel_log(make_world: MakeWorld) -> None:
    """The GPU is lost, its neighbour is not, and the log names the bus, the code and the owner."""
    world = make_world()
    node = world.nodes["n0"]
    raise_xid(node, node.gpus[1], 79, 5 * SECOND)
    assert node.gpus[1].lost is not None
    assert node.gpus[0].lost is None
    texts = [line.text for line in node.kernel_log.lines]
    assert f"NVRM: Xid (PCI:{node.gpus[1].bus_id}): 79, pid=4002, name=python3, GPU has" in (
        " ".join(texts)
    )


def test_an_overheated_gpu_switches_itself_off(make_world: MakeWorld) -> None:
    """With no air, the GPU is lost at the solved moment, by the world's own doing."""
    world = make_world(gpus=1)
    gpu = world.nodes["n0"].gpus[0]
    gpu.set_airflow(0.01, 0)
    due_us = world.next_us()
    assert due_us == gpu.shutdown_us < NEVER_US
    world.advance(due_us)
    assert gpu.lost is not None
    assert gpu.lost.since_us == due_us


def test_things_due_at_once_happen_by_actor_then_in_order(make_world: MakeWorld) -> None:
    """Ties are broken by the actor's name, then by the order of scheduling."""
    world = make_world(idle=True)
    seen: list[str] = []
    for actor, word in (("b", "b1"), ("a", "a1"), ("b", "b2"), ("a", "a2")):
        world.schedule(SECOND, actor, lambda word=word: seen.append(word))
    cancelled = world.schedule(SECOND, "a", lambda: seen.append("never"))
    cancelled.cancel()
    assert world.advance(SECOND)
    assert seen == ["a1", "a2", "b1", "b2"]


def test_what_is_scheduled_while_things_happen_happens_too(make_world: MakeWorld) -> None:
    """An action may schedule another within the stretch that is being advanced over."""
    world = make_world(idle=True)
    seen: list[int] = []

    def again() -> None:
        seen.append(world.now_us)
        if len(seen) < 3:
            world.schedule(world.now_us + SECOND, "a", again)

    world.schedule(SECOND, "a", again)
    world.advance(10 * SECOND)
    assert seen == [SECOND, 2 * SECOND, 3 * SECOND]


def test_a_month_between_two_readings_costs_no_more_than_a_second(make_world: MakeWorld) -> None:
    """Nothing is stepped through: a healthy month passes without a single event."""
    world = make_world()
    assert world.next_us() == NEVER_US
    assert world.advance(30 * 86_400 * SECOND) is False
    assert 90 <= world.nodes["n0"].gpus[0].utilization_percent(world.now_us) <= 100
