"""The doctor's checks: what each finds, and what mends it."""

import socket
from dataclasses import replace

import pytest

from gputui.config import Config
from gputui.doctor.check import Level
from gputui.doctor.checks import all_checks
from gputui.doctor.checks.clock import clock_is_synchronised
from gputui.doctor.checks.exposure import speaks_tls
from gputui.doctor.checks.sockets import Wanted
from gputui.doctor.examination import examine, exit_code
from gputui.doctor.site import Site
from gputui.incidents.engine import Engine
from gputui.incidents.rules import all_rules
from gputui.incidents.thresholds import Thresholds
from gputui.model import (
    Action,
    GpuState,
    GpuStatus,
    HostSample,
    Incident,
    PciGpu,
    Severity,
    Snapshot,
)

ETHERNET = {"operstate": "up", "carrier": "1"}


LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max processes             {processes:<20} unlimited            processes
Max open files            {files:<20} 1048576              files
Max locked memory         {locked:<20} {locked:<20} bytes
"""


def no_tool(_):
    return None


def resolver(**addresses):
    def resolve(name):
        if name not in addresses:
            raise OSError(None, "Name or service not known")
        return (addresses[name],)

    return resolve


@pytest.fixture
def site(make, tree):
    """A healthy node of eight GPUs, with what the test changes."""

    def build(*changed, **others):
        sample = make.node(1.0, *changed)
        sample = replace(sample, **others.pop("sample", {}))
        statuses = tuple(GpuStatus(gpu.index, GpuState.OK, 0.0) for gpu in sample.gpus)
        parts = {
            "snapshot": Snapshot(sample, statuses),
            "root": tree.root,
            "environment": {},
            "tool": no_tool,
            "resolve": resolver(),
            **others,
        }
        return Site(**parts)

    return build


def results(site, name):
    """What one check finds: the levels with the texts, and what mends them."""
    (wanted,) = (one for one in all_checks() if one.name == name)
    return [one.result for one in examine(site, [wanted])]


def worst(site, name):
    return max(results(site, name), key=lambda result: result.level)


GPU_FINDINGS = [
    ("ecc", {"ecc_enabled": False}, Level.WARNING, "off", "-e 1"),
    ("ecc", {"ecc_enabled": True, "ecc_uncorrected_volatile": 2}, Level.CRITICAL, "2 unc", "-r"),
    (
        "ecc",
        {"ecc_enabled": True, "ecc_sram_uncorrected_aggregate": 5},
        Level.CRITICAL,
        "5 uncorrected SRAM",
        "exchanged",
    ),
    ("remap", {"remap_pending": True}, Level.CRITICAL, "waits for a reset", "-r"),
    ("remap", {"remap_pending": False, "remap_failed": True}, Level.CRITICAL, "not be", "bundle"),
    ("remap", {"remap_pending": False, "remap_banks_none": 1}, Level.WARNING, "spare", "bundle"),
    (
        "remap",
        {"remap_pending": False, "remapped_rows_uncorrectable": 512},
        Level.CRITICAL,
        "512 rows",
        "bundle",
    ),
    ("remap", {"retired_pages_pending": True}, Level.CRITICAL, "driver", "reboot"),
    (
        "remap",
        {
            "retired_pages_pending": False,
            "retired_pages_single_bit": 60,
            "retired_pages_double_bit": 3,
        },
        Level.CRITICAL,
        "63 pages",
        "bundle",
    ),
    ("pcie", {"pcie_width": 8, "pcie_width_max": 16}, Level.WARNING, "x8 of x16", "lspci"),
    ("pcie", {"pcie_width": 4, "pcie_width_max": 16}, Level.CRITICAL, "x4 of x16", "lspci"),
    (
        "pcie",
        {
            "pcie_width": 16,
            "pcie_width_max": 16,
            "pcie_generation": 1,
            "pcie_generation_max": 5,
        },
        Level.WARNING,
        "generation 1 of 5",
        "lspci",
    ),
    ("nvlink", {"nvlinks": 18, "nvlinks_down": (3, 7)}, Level.CRITICAL, "3, 7 of 18", "nvlink -s"),
    ("persistence", {"persistence_enabled": False}, Level.WARNING, "GPU 3", "persistenced"),
    ("fabric", {"fabric_state": "in progress"}, Level.CRITICAL, "not ready on GPU 3", "fabric"),
]


@pytest.mark.parametrize(("name", "readings", "level", "text", "fix"), GPU_FINDINGS)
def test_a_gpu_in_trouble_is_named_with_what_mends_it(site, make, name, readings, level, text, fix):
    """Each trouble of one GPU is a result of its own level, with a command."""
    found = results(site(make.gpu(3, **readings)), name)
    assert max(one.level for one in found) is level
    assert any(text in one.text and fix in one.fix for one in found)


def test_a_slow_pcie_link_at_rest_saves_power(site, make):
    """A generation below the highest is a trouble under load alone."""
    idle = make.gpu(
        3,
        utilization_percent=0,
        pcie_width=16,
        pcie_width_max=16,
        pcie_generation=1,
        pcie_generation_max=5,
    )
    assert worst(site(idle), "pcie").level is Level.GOOD


@pytest.mark.parametrize("name", ["ecc", "remap", "pcie", "nvlink", "persistence", "infiniband"])
def test_what_a_node_does_not_have_is_skipped_with_the_reason(site, name):
    """A card without the feature is neither good nor bad."""
    assert [result.level for result in results(site(), name)] == [Level.SKIPPED]


def test_gpus_are_counted_against_settings_and_bus(site, make):
    """One that answers no more, one that only the bus shows, and fewer than there should be."""
    on_bus = tuple(PciGpu(bus) for bus in make.BUSES[:9])
    found = results(
        site(make.lost(2), sample={"on_bus": on_bus}, config=Config(expected_gpus=9)), "gpus"
    )
    texts = " / ".join(result.text for result in found)
    assert {result.level for result in found} == {Level.CRITICAL}
    assert "GPU 2 does not answer" in texts
    assert make.BUSES[8] in texts
    assert "8 of 9" in texts


def test_a_driver_of_two_versions_is_critical(site, tree):
    """After an update without a reload, library and kernel module differ."""
    tree.write({"sys/module/nvidia/version": "565.57.01"})
    assert "565.57.01" in worst(site(), "driver").text


def test_gpus_without_a_driver_are_critical_and_no_gpus_are_not(site, tree):
    """What is on the bus should work; where nothing is, nothing can be checked."""
    broken = {"error": "NVML not found", "gpus": (), "gpu_count": 0}
    on_bus = (PciGpu("0000:10:00"),)
    assert worst(site(sample={**broken, "on_bus": on_bus}), "driver").level is Level.CRITICAL
    assert worst(site(sample=broken), "driver").level is Level.UNCHECKED
    tree.write({"proc/modules": "nouveau 1 0 - Live 0x0"})
    assert "nouveau" in worst(site(), "driver").text


def test_the_supply_gives_the_limits_and_a_fifth(site, make):
    """Eight times 700 W need 6.72 kW; a limit that would fit is in the fix."""
    node = [make.gpu(index, power_limit_mw=700_000) for index in range(8)]
    assert worst(site(*node, supply_w=6720.0), "power").level is Level.GOOD
    short = worst(site(*node, supply_w=6719.0), "power")
    assert short.level is Level.CRITICAL
    assert short.fix == "nvidia-smi -pl 699"
    assert worst(site(*node), "power").level is Level.SKIPPED
    config = Config(thresholds=Thresholds(power_supply_w=6719.0))
    assert "by the config" in worst(site(*node, config=config), "power").text


@pytest.mark.parametrize(
    ("inlet_c", "level"),
    [(None, Level.SKIPPED), (22.0, Level.GOOD), (31.0, Level.WARNING), (9.0, Level.WARNING)],
)
def test_the_air_at_the_inlet_is_within_the_band(site, inlet_c, level):
    """16 to 27 C, unless the config says otherwise."""
    host = HostSample(inlet_c=inlet_c)
    assert worst(site(sample={"host_readings": host}), "inlet").level is level
    warm_hall = Config(thresholds=Thresholds(inlet_low_c=5.0, inlet_high_c=40.0))
    found = worst(site(sample={"host_readings": host}, config=warm_hall), "inlet")
    assert found.level is (Level.SKIPPED if inlet_c is None else Level.GOOD)


@pytest.mark.parametrize(
    ("told", "level"),
    [
        ("Inlet Temp       | 04h | ok  |  7.1 | 22 degrees C", Level.GOOD),
        ("Ambient Temp     | 31 degrees C      | ok", Level.WARNING),
        ("Exhaust Temp     | 01h | ok  |  7.1 | 45 degrees C", Level.SKIPPED),
        ("Inlet Temp       | 04h | ns  |  7.1 | No Reading", Level.SKIPPED),
        (None, Level.SKIPPED),
    ],
)
def test_the_air_at_the_inlet_is_told_by_ipmi_where_the_kernel_does_not(site, told, level):
    """By whichever name the vendor gave the sensor, and in both of ipmitool's layouts."""
    assert worst(site(tool=lambda _: told), "inlet").level is level


def test_what_keeps_the_driver_from_answering_is_critical_with_what_ends_it(site):
    """The monitor's incident knows the reason: the doctor says the same."""
    broken = site(sample={"error": "NVML error 18: versions differ", "gpus": (), "gpu_count": 0})
    mismatch = Incident(
        id="1", kind="DriverMismatch", subject="node:n0", host="n0", severity=Severity.CRITICAL,
        opened_s=1.0, cause="versions", cause_text="library 575, kernel module 570",
        action=Action.RELOAD_DRIVER, action_text="rmmod nvidia; modprobe nvidia",
    )  # fmt: skip
    broken = replace(broken, snapshot=replace(broken.snapshot, incidents=(mismatch,)))
    for name in ("driver", "incidents"):
        found = worst(broken, name)
        assert found.level is Level.CRITICAL
        assert "modprobe" in found.fix


@pytest.mark.parametrize(
    ("reading", "name"),
    [
        ("ecc_enabled", "ecc"),
        ("remap_pending", "remap"),
        ("persistence_enabled", "persistence"),
        ("pcie_width", "pcie"),
    ],
)
def test_a_reading_that_fails_on_one_gpu_could_not_be_checked(site, make, reading, name):
    """One that the model does not have is nothing to say."""
    told = {
        "ecc_enabled": True, "remap_pending": False, "persistence_enabled": True,
        "pcie_width": 16, "pcie_width_max": 16, "ecc_uncorrected_volatile": 0,
    }  # fmt: skip
    node = [make.gpu(index, **told) for index in range(8)]
    assert worst(site(*node), name).level is Level.GOOD
    for why, level in (("unknown error", Level.UNCHECKED), ("not supported", Level.GOOD)):
        node[3] = make.gpu(3, **{**told, reading: None}, missing={reading: why})
        assert worst(site(*node), name).level is level


def test_a_gpu_that_is_not_well_in_its_fabric_is_a_warning(site, make):
    """It has joined, and what NVML says of its health is told."""
    node = [make.gpu(i, fabric_state="completed", fabric_health="healthy") for i in range(8)]
    assert worst(site(*node), "fabric").level is Level.GOOD
    node[2] = make.gpu(2, fabric_state="completed", fabric_health="degraded bandwidth")
    found = worst(site(*node), "fabric")
    assert found.level is Level.WARNING
    assert "GPU 2" in found.text
    assert "degraded bandwidth" in found.text


def test_one_of_several_supplies_is_spare(site, make):
    """What IPMI tells of each supply is added up, without the largest."""
    told = "Power Supply\n  Capacity : 3000 W\nPower Supply\n  Capacity : 3000 W\n"
    node = [make.gpu(index, power_limit_mw=350_000) for index in range(8)]
    found = worst(site(*node, tool=lambda _: told), "power")
    assert found.level is Level.CRITICAL
    assert "3,000 W" in found.text


def test_the_fabric_manager_is_of_the_drivers_version(site, tree):
    """Where switches are: it runs, and its version equals the driver's."""
    tree.write(
        {
            "sys/bus/pci/devices/0000:c1:00.0/vendor": "0x10de",
            "sys/bus/pci/devices/0000:c1:00.0/class": "0x068000",
            "proc/812/comm": "nv-fabricmanager"[:15],
        }
    )
    assert worst(site(tool=lambda _: "version is : 570.124.06"), "fabric").level is Level.GOOD
    other = worst(site(tool=lambda _: "version is : 550.54.15"), "fabric")
    assert other.level is Level.CRITICAL
    assert "550.54.15" in other.text
    tree.remove("proc/812")
    assert "does not run" in worst(site(tool=lambda _: "570.124.06"), "fabric").text


def test_the_fabric_managers_package_tells_its_version(site, tree):
    """Where the program does not say it."""
    tree.write(
        {
            "sys/bus/pci/devices/0000:c1:00.0/vendor": "0x10de",
            "sys/bus/pci/devices/0000:c1:00.0/class": "0x068000",
            "proc/812/comm": "nv-fabricmanage",
            "var/lib/dpkg/status": "Package: bash\nStatus: install ok installed\nVersion: 5\n\n"
            "Package: nvidia-fabricmanager-550\nStatus: install ok installed\n"
            "Section: libs\nVersion: 550.54.15-1\n",
        }
    )
    assert "550.54.15" in worst(site(), "fabric").text


def test_a_fabric_whose_switches_cannot_be_seen_is_judged_by_its_gpus(site, make):
    """In a container the GPUs are there, and the switches are not."""
    node = [make.gpu(index, fabric_state="completed") for index in range(8)]
    assert "ready on 8 GPUs" in worst(site(*node), "fabric").text


def test_every_name_resolves_to_an_address_of_its_own(site, tree):
    """A name that does not, one that means this machine alone, and two that are one."""
    tree.write({"proc/sys/kernel/hostname": "n0"})
    nodes = ("n0", "n1")
    fine = resolver(n0="10.0.0.1", n1="10.0.0.2")
    assert worst(site(nodes=nodes, resolve=fine), "names").level is Level.GOOD
    unknown = worst(site(nodes=nodes, resolve=resolver(n0="10.0.0.1")), "names")
    assert "n1 does not resolve" in unknown.text
    assert "/etc/hosts" in unknown.fix
    looped = worst(site(nodes=nodes, resolve=resolver(n0="127.0.1.1", n1="10.0.0.2")), "names")
    assert looped.level is Level.CRITICAL
    assert "127.0.1.1" in looped.text
    same = resolver(n0="10.0.0.1", n1="10.0.0.1")
    assert "both" in worst(site(nodes=nodes, resolve=same), "names").text


def test_the_interface_that_nccl_is_to_use_is_there_and_up(site, tree):
    """NCCL_SOCKET_IFNAME names interfaces by their beginnings."""
    for name in ("lo", "eth0", "ib0"):
        tree.write({f"sys/class/net/{name}/{file}": text for file, text in ETHERNET.items()})
    tree.write({"sys/class/net/ib0/operstate": "down"})

    def told(value):
        return worst(site(environment={"NCCL_SOCKET_IFNAME": value}), "sockets")

    assert told("eth").level is Level.GOOD
    assert told("^lo,docker").level is Level.GOOD
    missing = told("ens5")
    assert missing.level is Level.CRITICAL
    assert missing.fix == "export NCCL_SOCKET_IFNAME=eth0"
    assert "down" in told("=ib0").text
    assert told("=eth").level is Level.CRITICAL


@pytest.mark.parametrize(
    ("value", "interface", "is_meant"),
    [
        ("eth", "eth0", True),
        ("=eth", "eth0", False),
        ("=eth0,ib0", "ib0", True),
        ("^docker,lo", "docker0", False),
        ("^docker,lo", "eth0", True),
        ("^=eth0", "eth01", True),
    ],
)
def test_interfaces_are_named_as_nccl_names_them(value, interface, is_meant):
    """Beginnings, whole names after =, all but these after ^."""
    assert Wanted.of(value).takes(interface) is is_meant


def infiniband_port(tree, device, state="4: ACTIVE", rate="400 Gb/sec (4X NDR)"):
    port = f"sys/class/infiniband/{device}/ports/1"
    tree.write(
        {
            f"{port}/link_layer": "InfiniBand",
            f"{port}/state": state,
            f"{port}/phys_state": "5: LinkUp" if "ACTIVE" in state else "2: Polling",
            f"{port}/rate": rate,
        }
    )


def test_rdma_ports_are_active_at_one_speed(site, tree):
    """One that is down, and one that runs slower than the others."""
    for device in ("mlx5_0", "mlx5_1"):
        infiniband_port(tree, device)
    assert worst(site(), "infiniband").level is Level.GOOD
    infiniband_port(tree, "mlx5_2", rate="100 Gb/sec (4X EDR)")
    assert "100 Gb/s, others at 400" in worst(site(), "infiniband").text
    infiniband_port(tree, "mlx5_3", state="1: DOWN")
    down = worst(site(), "infiniband")
    assert down.level is Level.CRITICAL
    assert "mlx5_3" in down.text
    unknown = {"NCCL_IB_HCA": "mlx4"}
    found = [one.text for one in results(site(environment=unknown), "infiniband")]
    assert any("names mlx4" in text for text in found)
    disabled = results(site(environment={"NCCL_IB_DISABLE": "1"}), "infiniband")
    assert any("NCCL_IB_DISABLE" in one.text for one in disabled)


def test_rdma_needs_memory_that_may_be_locked(site, tree):
    """With RDMA ports, a limit on locked memory is critical."""
    infiniband_port(tree, "mlx5_0")
    tree.write({"proc/self/limits": LIMITS.format(locked=65536, files=1024, processes="unlimited")})
    locked, files = results(site(), "limits")
    assert (locked.level, "64 KiB" in locked.text) == (Level.CRITICAL, True)
    assert (files.level, files.fix) == (Level.WARNING, "ulimit -n 65536")


def test_limits_of_jobs_may_be_named(site, tree):
    """Where the environment names another table than this process's own, that counts."""
    infiniband_port(tree, "mlx5_0")
    own = LIMITS.format(locked=65536, files=1024, processes=100)
    ample = LIMITS.format(locked="unlimited", files=1 << 20, processes="unlimited")
    tree.write({"proc/self/limits": own, "run/limits": ample})
    (found,) = results(site(environment={"GPUTUI_LIMITS": "/run/limits"}), "limits")
    assert found.level is Level.GOOD


def test_limits_that_cannot_be_read_are_not_called_good(site):
    """Without the kernel's table nothing is known."""
    assert worst(site(), "limits").level is Level.UNCHECKED


def test_shared_memory_that_is_missing_cannot_be_checked(site, tree):
    """Without /dev/shm there is nothing to measure."""
    assert worst(site(), "shared-memory").level is Level.UNCHECKED


def test_an_open_notebook_without_tls_is_told(site, tree):
    """A listening socket on all addresses is; one on the loopback is not."""
    head = "  sl  local_address rem_address   st\n"
    open_one = head + "   0: 00000000:22B8 00000000:0000 0A\n"
    tree.write({"proc/net/tcp": open_one})
    found = worst(site(), "exposure")
    assert found.level is Level.WARNING
    assert "8888 (Jupyter)" in found.text
    assert "ssh -L" in found.fix
    for closed in ("0100007F:22B8", "00000000:0016"):
        tree.write({"proc/net/tcp": head + f"   0: {closed} 00000000:0000 0A\n"})
        assert worst(site(), "exposure").level is Level.GOOD


def test_a_service_that_does_not_greet_in_tls_is_plain():
    """A server that closes at once speaks no TLS."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)
        assert not speaks_tls(server.getsockname()[1])


def test_the_kernel_is_asked_for_its_clock():
    """It says yes or no."""
    assert clock_is_synchronised() in (True, False)


@pytest.mark.parametrize(("word", "level"), [("yes", Level.GOOD), ("no", Level.WARNING)])
def test_the_systems_tool_tells_whether_the_clock_is_kept(site, word, level):
    """Where there is timedatectl, its word counts."""
    told = f"NTPSynchronized={word}\n"
    assert worst(site(tool=lambda _: told), "clock").level is level


def test_a_check_that_fails_is_a_result(site):
    """A fault of the doctor's own hides nothing of what the others find."""

    def fail(_):
        raise RuntimeError("no such thing")

    (one, *_) = all_checks()
    (found,) = examine(site(), [replace(one, look=fail)])
    assert found.result.level is Level.UNCHECKED
    assert "no such thing" in found.result.text


def test_the_exit_code_is_the_worst(site, make):
    """0 good, 1 warnings, 3 could not check, 2 critical."""

    def code(name, **readings):
        (wanted,) = (one for one in all_checks() if one.name == name)
        return exit_code(examine(site(make.gpu(0, **readings)), [wanted]))

    assert code("persistence", persistence_enabled=True) == 0
    assert code("persistence", persistence_enabled=False) == 1
    assert code("remap", remap_pending=True) == 2
    assert code("shared-memory") == 3


GPU_CHECKS = ("ecc", "remap", "pcie", "nvlink", "persistence", "power", "fabric", "gpus")


@pytest.mark.parametrize("name", GPU_CHECKS)
def test_of_gpus_that_nobody_can_ask_nothing_is_said(site, name):
    """Where NVML fails, that is no word on what the hardware has: not "no NVLink"."""
    failed = site(sample={"error": "the driver and its library differ", "gpus": ()})
    found = worst(failed, name)
    assert (found.level, "unknown" in found.text) == (Level.SKIPPED, True)
    assert "NVML cannot be asked" in found.text


def test_a_manager_that_runs_does_not_make_a_fabric_ready(site, tree):
    """Only NVML knows whether the GPUs have joined."""
    tree.write(
        {
            "sys/bus/pci/devices/0000:c1:00.0/vendor": "0x10de",
            "sys/bus/pci/devices/0000:c1:00.0/class": "0x068000",
            "proc/812/comm": "nv-fabricmanage",
        }
    )
    failed = {"error": "the driver and its library differ", "gpus": (), "driver": None}
    found = worst(site(sample=failed, tool=lambda _: "570.124.06"), "fabric")
    assert (found.level, "unknown" in found.text) == (Level.SKIPPED, True)


@pytest.mark.parametrize(
    ("name", "reading"),
    [("nvlink", "nvlinks"), ("ecc", "ecc_enabled"), ("persistence", "persistence_enabled")],
)
def test_a_reading_that_failed_on_every_gpu_is_not_absent(site, make, name, reading):
    """A call that fails tells nothing of what is there."""
    why = {"missing": {reading: "timeout"}, reading: None}
    found = worst(site(*(make.gpu(index, **why) for index in range(8))), name)
    assert found.level is Level.UNCHECKED


@pytest.mark.parametrize(("width", "level"), [(8, Level.WARNING), (4, Level.CRITICAL)])
def test_fewer_lanes_are_as_grave_as_the_monitor_says(site, make, width, level):
    """Half of them make work slower; a quarter is as good as none."""
    narrow = make.gpu(1, pcie_width=width, pcie_width_max=16)
    engine = Engine(all_rules(), interval_s=1.0)
    for second in range(4):
        engine.sample(make.node(float(second), narrow))
    (incident,) = engine.incidents
    assert incident.kind == "PcieDegraded"
    assert worst(site(narrow), "pcie").level.word == incident.severity.word == level.word
