"""An incident says what the driver asks for, and how grave it is, whatever its own code says."""

from dataclasses import replace

import pytest

from gputui.incidents.engine import Engine
from gputui.incidents.rules.ecc_uncorrectable import ecc_uncorrectable, ecc_uncorrectable_told
from gputui.incidents.rules.gpu_lost import gpu_lost
from gputui.incidents.rules.gpu_xid import gpu_xid
from gputui.incidents.rules.nvlink_down import nvlink_down
from gputui.model import Action, Severity

NONE, RESET, REBOOT = "0x0 (None)", "0x1 (GPU Reset Required)", "0x2 (Node Reboot Required)"
LINK_DOWN = "NETIR_LINK_EVT Fatal XC0 i0 Link 04 (0x00000001 0x00000000)"


@pytest.fixture
def engine(make):
    """The rules for Xids, memory, links and lost GPUs, on a healthy node of four GPUs."""
    rules = [gpu_lost, gpu_xid, ecc_uncorrectable, ecc_uncorrectable_told, nvlink_down]
    engine = Engine(rules, interval_s=1.0)
    engine.sample(make.node(0.0, count=4))
    return engine


@pytest.fixture
def tell(engine, make):
    """Have the log tell an Xid of GPU 1."""

    def say(time_s, code, detail=""):
        engine.log(make.xid(time_s, 1, code, detail))

    return say


def changed(before, after):
    """What Xid 154 says in the driver's words."""
    return f"GPU recovery action changed from {before} to {after}"


def root(engine):
    """The only incident that no other explains."""
    (one,) = [one for one in engine.incidents if one.parent is None]
    return one


@pytest.mark.parametrize(
    ("code", "detail"),
    [
        (119, "Timeout after 6s of waiting for RPC response"),
        (48, "DBE (double bit error)"),
        (95, "Uncontained: RST: Yes, D-RST: No"),
        (149, LINK_DOWN),
    ],
)
def test_the_drivers_verdict_is_that_of_the_incident_it_is_about(engine, tell, make, code, detail):
    """A reboot that the driver asks for is not to be read as a reset, sample after sample."""
    tell(10.0, code, detail)
    tell(10.5, 154, changed(NONE, REBOOT))
    for time_s in (11.0, 12.0, 13.0):
        engine.sample(make.node(time_s, count=4))
        found = root(engine)
        assert (found.action, found.severity) == (Action.REBOOT_NODE, Severity.CRITICAL)
        assert "reboot" in found.action_text


def test_the_drivers_last_verdict_stands(engine, tell):
    """It may ask for more than it did at first."""
    tell(10.0, 119)
    tell(10.5, 154, changed(NONE, RESET))
    assert root(engine).action is Action.RESET_GPU
    tell(12.0, 154, changed(RESET, REBOOT))
    assert root(engine).action is Action.REBOOT_NODE


def test_a_verdict_in_unknown_words_changes_nothing(engine, tell):
    """What nobody can read is no reason to do another thing."""
    tell(10.0, 119)
    before = root(engine).action
    tell(10.5, 154, "GPU recovery action changed from 0x0 (None) to 0x9 (Dance)")
    assert root(engine).action is before


def test_a_lost_gpu_is_not_made_to_look_milder_by_the_driver(engine, tell, make):
    """The driver has no word for a power cycle."""
    tell(10.0, 79)
    tell(10.5, 154, changed(NONE, RESET))
    engine.sample(make.node(11.0, make.lost(1), count=4))
    assert root(engine).action is Action.POWER_CYCLE


def test_one_that_becomes_graver_by_a_verdict_wants_to_be_seen_again(engine, tell):
    """Whoever has seen a warning has not seen that the node has to be rebooted."""
    tell(10.0, 94, "Contained: RST: No, D-RST: No")
    assert root(engine).severity is Severity.WARNING
    assert engine.acknowledge(root(engine).id)
    tell(10.5, 154, changed(NONE, REBOOT))
    assert not root(engine).acknowledged


def test_a_lent_verdict_is_told_once(engine, tell, make):
    """Readings that go on as they were are no news."""
    tell(10.0, 48)
    tell(10.5, 154, changed(NONE, REBOOT))
    engine.sample(make.node(11.0, make.gpu(1, ecc_uncorrected_volatile=1), count=4))
    engine.changes()
    engine.sample(make.node(12.0, make.gpu(1, ecc_uncorrected_volatile=1), count=4))
    assert engine.changes() == []


@pytest.mark.parametrize("codes", [(48, 63, 94), (94, 63, 48), (63, 48, 94)])
def test_the_gravest_of_what_one_failure_gave_says_what_to_do(engine, tell, codes):
    """An error that was contained in the end does not hide the one that was not."""
    for at, code in enumerate(codes):
        tell(10.0 + at / 10, code)
    alone = Engine([gpu_xid], interval_s=1.0)
    alone.log(replace(next(iter(engine.past.events("xid"))), code=48))
    (double_bit,) = alone.incidents
    found = root(engine)
    assert found.kind == "EccUncorrectable"
    assert (found.severity, found.action) == (double_bit.severity, double_bit.action)
