"""Commands of the system, answered from the world."""

import io
import json
import re

import pytest

from fakes.commands.registry import NOT_UNDERSTOOD, Call, commands
from fakes.driver.xid import raise_xid
from fakes.hardware.recovery import REBOOT_US
from fakes.node import Node, Power
from fakes.profile import load_profile
from fakes.world import World

MINUTE_US = 60_000_000


class System:
    """A node with an Xid in its log, and commands on it."""

    def __init__(self):
        profile = load_profile("h100-sxm")
        self.world = World([Node(f"n{i}", profile, 2) for i in range(2)])
        self.node = self.world.nodes["n0"]
        self.paused_us = 0
        self.err = ""

    def __call__(self, name, *argv):
        """The exit status and what was printed."""
        out, err = io.StringIO(), io.StringIO()
        call = Call(
            argv=argv, out=out, err=err, node=self.node, world=self.world, nvml=None,
            clock=lambda: self.node.epoch.unix_us(self.world.now_us) / 1e6, pause=self._pause,
            env={}, user="root", stdin=io.StringIO("from input\n"),
        )  # fmt: skip
        status = commands()[name](call)
        self.err = err.getvalue()
        return status, out.getvalue()

    def _pause(self, us):
        self.paused_us += us
        self.world.advance(self.world.now_us + us)


@pytest.fixture
def system():
    system = System()
    system.world.advance(90 * 60_000_000)
    raise_xid(system.node, system.node.gpus[0], 13, system.world.now_us)
    return system


@pytest.mark.parametrize(
    ("options", "starts"),
    [
        ((), "[264600.000000] NVRM: Xid"),
        (("-T",), "[Thu Jan  1 01:30:00 2026] NVRM: Xid"),
        (("-tx",), "NVRM: Xid"),
        (("--time-format", "iso"), "2026-01-01T01:30:00,000000+00:00 NVRM: Xid"),
        (("-x",), "kern  :warn  : [264600.000000] NVRM: Xid"),
        (("-T", "-l", "err", "--color=never"), "[Thu Jan  1 01:30:00 2026] NVRM: Xid"),
    ],
)
def test_the_kernels_ring_in_every_form(system, options, starts):
    """As util-linux prints it."""
    status, printed = system("dmesg", *options)
    assert status == 0
    assert printed.startswith(starts)


def test_a_reboot_empties_the_kernels_ring(system):
    """What an earlier boot has printed is gone from it."""
    system("reboot")
    system.world.advance(system.world.now_us + REBOOT_US)
    assert "Xid" not in system("dmesg")[1]
    assert system("dmesg")[1].startswith("[    0.000000] Linux version")


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("-k", "--no-pager"), "Jan 01 01:30:00 n0 kernel: NVRM: Xid"),
        (("-k", "-o", "short-iso"), "2026-01-01T01:30:00+0000 n0 kernel: NVRM: Xid"),
        (("-k", "-o", "cat", "-n", "1"), "NVRM: Xid"),
        (("-k", "--since", "1 hour ago"), "Jan 01 01:30:00 n0 kernel: NVRM: Xid"),
        (("-k", "-S", "-5min", "-b", "0"), "Jan 01 01:30:00 n0 kernel: NVRM: Xid"),
        (("-u", "slurmd", "-S", "-1h"), "-- No entries --"),
        (("-k", "-g", "no such text"), "-- No entries --"),
    ],
)
def test_the_journal_has_the_kernels_lines(system, options, wanted):
    """In the forms that scripts parse."""
    assert system("journalctl", *options)[1].startswith(wanted)


def test_the_journal_in_json(system):
    """A line an entry, as gputui's own reader wants it."""
    told = json.loads(system("journalctl", "-k", "-o", "json")[1].splitlines()[0])
    assert told["_TRANSPORT"] == "kernel"
    assert told["MESSAGE"].startswith("NVRM: Xid")


def test_since_leaves_out_what_is_older(system):
    """An hour later, five minutes ago is after the Xid."""
    system.world.advance(system.world.now_us + 60 * MINUTE_US)
    assert system("journalctl", "-k", "--since", "5 min ago")[1] == "-- No entries --\n"


@pytest.mark.parametrize(
    ("name", "argv", "power"),
    [
        ("reboot", (), Power.BOOTING),
        ("reboot", ("-f",), Power.BOOTING),
        ("shutdown", ("-r", "now"), Power.BOOTING),
        ("shutdown", ("-h", "now"), Power.OFF),
        ("poweroff", (), Power.OFF),
        ("ipmitool", ("chassis", "power", "cycle"), Power.BOOTING),
        ("ipmitool", ("power", "reset"), Power.BOOTING),
        ("ipmitool", ("-I", "lanplus", "-H", "n0-bmc", "-U", "a", "-P", "b", "power", "off"),
         Power.OFF),
    ],
)  # fmt: skip
def test_a_node_goes_down_in_every_spelling(system, name, argv, power):
    """What counts is the effect."""
    assert system(name, *argv)[0] == 0
    assert system.node.power is power


def test_a_service_processor_is_another_nodes(system):
    """-H names whose."""
    system("ipmitool", "-H", "n1", "power", "off")
    assert system.node.is_up
    assert system.world.nodes["n1"].power is Power.OFF
    assert system("ipmitool", "-H", "n1", "power", "status")[1] == "Chassis Power is off\n"
    assert system("ipmitool", "-H", "n7", "power", "status")[0] == 1


def test_a_shutdown_happens_later_unless_it_is_taken_back(system):
    """The command returns at once."""
    start_us = system.world.now_us
    system("shutdown", "-r", "+1")
    system("shutdown", "-c")
    system.world.advance(start_us + 2 * MINUTE_US)
    assert system.node.is_up
    system("shutdown", "-r", "+5")
    assert system.paused_us == 0
    system.world.advance(start_us + 6 * MINUTE_US)
    assert system.node.is_up
    system.world.advance(start_us + 8 * MINUTE_US)
    assert not system.node.is_up


@pytest.mark.parametrize(
    ("argv", "seconds"), [(("5",), 5), (("1m", "30s"), 90), ((".5",), 0.5), (("1h",), 3600)]
)
def test_sleep_takes_its_time_of_the_run(system, argv, seconds):
    """Several durations add up."""
    assert system("sleep", *argv) == (0, "")
    assert system.paused_us == seconds * 1_000_000


@pytest.mark.parametrize("argv", [(), ("x",), ("5y",)])
def test_sleep_refuses_what_is_no_duration(system, argv):
    """With status 1, as coreutils does."""
    assert system("sleep", *argv)[0] == 1


def test_logger_shows_its_line_when_asked(system):
    """With -s, also what comes by its input."""
    assert system("logger", "-s", "-t", "drain", "done")[0] == 0
    assert re.fullmatch(r"<13>[A-Z][a-z]{2} [ \d]\d [\d:]{8} drain: done\n", system.err)
    system("logger", "-s")
    assert system.err.endswith(" root: from input\n")


@pytest.mark.parametrize(
    ("name", "argv"),
    [
        ("dmesg", ("--frobnicate",)),
        ("journalctl", ("--vacuum-size=1G",)),
        ("journalctl", ("--since", "the day before")),
        ("ipmitool", ("sol", "activate")),
        ("reboot", ("--frobnicate",)),
        ("logger", ("--frobnicate",)),
    ],
)
def test_what_a_look_alike_does_not_know_is_125(system, name, argv):
    """With a line that says what."""
    assert system(name, *argv)[0] == NOT_UNDERSTOOD
    assert "not known here" in system.err


def test_timedatectl_tells_whether_the_clock_is_kept_right(system):
    """While chrony runs; and for some hours after, as the kernel has it."""
    for after_us, synchronised in ((0, "yes"), (600 * MINUTE_US, "no")):
        if after_us:
            assert system("timedatectl", "set-ntp", "false") == (0, "")
            system.world.advance(system.world.now_us + after_us)
        shown = system("timedatectl", "show", "-p", "NTPSynchronized", "--value")
        assert shown == (0, f"{synchronised}\n")
        assert f"System clock synchronized: {synchronised}\n" in system("timedatectl")[1]
    assert system("timedatectl", "set-ntp", "true") == (0, "")
    assert system.node.services.is_active("chrony")
    assert system("timedatectl", "set-timezone", "Asia/Tokyo")[0] == NOT_UNDERSTOOD
