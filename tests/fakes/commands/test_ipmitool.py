"""ipmitool: what a service processor notes, measures and does."""

from __future__ import annotations

import pytest

from fakes.driver.xid import raise_xid
from fakes.hardware.pcie import AerError, aer_lines
from fakes.hardware.recovery import power_cycle
from fakes.node import Power


@pytest.fixture
def ipmi(shell):
    return lambda *argv, **given: shell("ipmitool", *argv, **given)


def test_an_event_log_begins_empty(ipmi):
    """In ipmitool's words."""
    assert ipmi("sel", "list").out == "SEL has no entries\n"
    assert "Entries          : 0\n" in ipmi("sel", "info").out


def test_what_hardware_sees_is_in_the_event_log(shell, ipmi):
    """Errors of the bus, the room, a power supply, and that somebody cut the power."""
    node, now_us = shell.node, shell.world.now_us
    gpu = node.gpus[2]
    for line in aer_lines(gpu.port_bus_id, gpu.bus_id, gpu.profile.pci_device_id, AerError.FATAL):
        node.kernel_log.write(now_us, line)
    raise_xid(node, gpu, 13, now_us)
    node.inlet.set(45.0)
    node.supply.give(3_000_000, now_us)
    power_cycle(shell.world, node)
    lines = ipmi("sel", "elist").lines
    assert [line.split(" | ", 3)[3] for line in lines] == [
        "Critical Interrupt PCIe Bus Error | Bus Fatal Error | Asserted",
        "Temperature Inlet Temp | Upper Critical going high | Asserted | "
        "Reading 45 > Threshold 42 degrees C",
        "Power Supply PSU6 Status | Failure detected | Asserted",
        "Power Unit Power Unit | Power cycle | Asserted",
    ]
    assert lines[0].startswith("   1 | 01/01/2026 | 00:00:03 | ")
    assert "| Critical Interrupt #0x41 | Bus Fatal Error | Asserted" in ipmi("sel", "list").lines[0]
    assert ipmi("sel", "list", "last", "1").lines[0].startswith("   4 | ")


def test_a_log_that_was_cleared_says_so(ipmi):
    """One entry is left: that it was."""
    assert ipmi("sel", "clear").out == "Clearing SEL.  Please allow a few seconds to erase.\n"
    assert [line.split(" | ")[-2] for line in ipmi("sel", "list").lines] == [
        "Log area reset/cleared"
    ]


def test_sensors_follow_the_world(shell, ipmi):
    """A GPU off the bus has no reading, a room that is too warm is critical."""
    assert "Inlet Temp       | 22 degrees C      | ok\n" in ipmi("sdr").out
    raise_xid(shell.node, shell.node.gpus[0], 79, shell.world.now_us)
    shell.node.inlet.set(43.0)
    assert "Inlet Temp       | 43 degrees C      | cr\n" in ipmi("sdr", "list").out
    lines = ipmi("sdr", "type", "Temperature").lines
    assert "Inlet Temp       | 30h | cr  |  64.1 | 43 degrees C" in lines
    assert "GPU1 Temp        | 40h | ns  |  11.1 | No reading" in lines
    assert any(line.startswith("FAN1 ") for line in ipmi("sensor").lines)
    total = shell("ipmitool", "dcmi", "power", "reading").out
    assert "Instantaneous power reading:" in total


@pytest.mark.parametrize(
    ("host", "name"), [("n0-bmc", "n0"), ("bmc-n0", "n0"), ("n0.ipmi", "n0"), ("10.255.0.1", "n0")]
)
def test_a_service_processor_has_names_and_an_address(host, name, shell, ipmi):
    """-H reaches it while the node is off, too."""
    argv = ("-I", "lanplus", "-H", host, "-U", "admin", "-P", "x")
    assert ipmi(*argv, "power", "off").status == 0
    assert shell.world.nodes[name].power is Power.OFF
    assert ipmi(*argv, "chassis", "power", "status").out == "Chassis Power is off\n"
    assert ipmi(*argv, "power", "on").out == "Chassis Power Control: Up/On\n"


@pytest.mark.parametrize(
    ("argv", "words", "status"),
    [
        (("-H", "n9-bmc", "power", "status"), "Unable to establish IPMI v2 / RMCP+ session", 1),
        (("-H", "n0-bmc", "-E", "mc", "info"), "Unable to read password from environment", 1),
        (("chassis", "power", "explode"), "Invalid chassis power command: explode", 1),
        (("raw", "0x3c", "0x13"), "rsp=0xc1): Invalid command", 1),
        ((), "No command provided!", 1),
        (("sol", "activate"), "not known here", 125),
    ],
)
def test_what_goes_wrong_is_said_in_the_real_words(argv, words, status, ipmi):
    """On stderr."""
    said = ipmi(*argv)
    assert words in said.err
    assert said.status == status


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("lan", "print"), "IP Address              : 10.255.0.1"),
        (("fru", "print"), "Product Name"),
        (("mc", "info"), "IPMI Version"),
        (("mc", "reset", "cold"), "Sent cold reset command to MC"),
        (("chassis", "status"), "System Power         : on"),
        (("chassis", "bootdev", "pxe"), "Set Boot Device to pxe"),
    ],
)
def test_what_it_tells_of_itself(argv, words, ipmi):
    """Inventory, address, state."""
    assert words in ipmi(*argv).out


def test_whose_jobs_run_may_not_ask(shell, ipmi):
    """The device is root's."""
    owner = next(iter(shell.node.jobs.values())).user
    said = ipmi("sel", "list", user=owner)
    assert (said.status, "Permission denied" in said.err) == (1, True)
