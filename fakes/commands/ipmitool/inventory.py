"""What the server and its service processor are, and how the latter is reached."""

from __future__ import annotations

import time

from fakes.commands.ipmitool.sensors import total_watts
from fakes.network.network import number_of
from fakes.node import Node
from fakes.system.machine import BOARD, MANUFACTURER, PRODUCT, identity

FIRMWARE = "1.18"


def bmc_address(node: str) -> str:
    """The address of a node's service processor, in a network of its own."""
    number = number_of(node) + 1
    return f"10.255.{number >> 8}.{number & 0xFF}"


def fru(node: Node) -> str:
    """``fru print``."""
    numbers = identity(node.name)
    rows = (
        ("Chassis Type", "Rack Mount Chassis"),
        ("Chassis Serial", numbers.serial),
        ("Board Mfg", MANUFACTURER),
        ("Board Product", BOARD),
        ("Board Serial", numbers.board_serial),
        ("Product Manufacturer", MANUFACTURER),
        ("Product Name", PRODUCT),
        ("Product Serial", numbers.serial),
        ("Product Asset Tag", numbers.asset_tag),
    )
    text = "".join(f" {label:<21} : {value}\n" for label, value in rows)
    return f"FRU Device Description : Builtin FRU Device (ID 0)\n{text}\n"


def controller() -> str:
    """``mc info``."""
    rows = (
        ("Device ID", "32"),
        ("Device Revision", "1"),
        ("Firmware Revision", FIRMWARE),
        ("IPMI Version", "2.0"),
        ("Manufacturer ID", "5703"),
        ("Manufacturer Name", MANUFACTURER),
        ("Product ID", "8193 (0x2001)"),
        ("Device Available", "yes"),
        ("Provides Device SDRs", "yes"),
    )
    return "".join(f"{label:<25} : {value}\n" for label, value in rows)


def lan(node: Node) -> str:
    """``lan print``."""
    number = number_of(node.name)
    mac = f"a0:88:c2:ff:{number >> 8 & 0xFF:02x}:{number & 0xFF:02x}"
    rows = (
        ("Set in Progress", "Set Complete"),
        ("Auth Type Support", "MD5 PASSWORD "),
        ("IP Address Source", "DHCP Address"),
        ("IP Address", bmc_address(node.name)),
        ("Subnet Mask", "255.255.0.0"),
        ("MAC Address", mac),
        ("Default Gateway IP", "10.255.255.254"),
        ("802.1q VLAN ID", "Disabled"),
        ("RMCP+ Cipher Suites", "3,17"),
    )
    return "".join(f"{label:<24}: {value}\n" for label, value in rows)


def power_reading(node: Node, at_us: int) -> str:
    """``dcmi power reading``: now, and about what it was."""
    watts = total_watts(node, at_us)
    moment = time.asctime(time.gmtime(node.epoch.unix_us(at_us) / 1e6))
    rows = (
        ("Instantaneous power reading:", watts),
        ("Minimum during sampling period:", watts * 96 // 100),
        ("Maximum during sampling period:", watts * 104 // 100),
        ("Average power reading over sample period:", watts),
    )
    text = "".join(f"    {label:<42}{value:>8} Watts\n" for label, value in rows)
    rest = (
        ("IPMI timestamp:", moment),
        ("Sampling period:", "00000001 Seconds."),
        ("Power reading state is:", "activated"),
    )
    return f"\n{text}" + "".join(f"    {label:<42}{value}\n" for label, value in rest) + "\n\n"
