"""gputui scan: a driver that does not come up, and the reason that it gives."""

import json

import pytest

from gputui.commands.scan import run

NOUVEAU = """\
[    5.100000] NVRM: The NVIDIA probe routine was not called for 1 device(s).
[    5.100001] NVRM: This can occur when a driver such as:
[    5.100002] NVRM: nouveau, rivafb, nvidiafb or rivatv
[    5.100003] NVRM: was loaded and obtained ownership of the NVIDIA device(s).
[    5.100004] NVRM: None of the NVIDIA devices were initialized.
"""
BAR = """\
[    5.100000] NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:
[    5.100000] NVRM: BAR1 is 0M @ 0x0 (PCI:0000:3b:00.0)
[    5.200000] nvidia: probe of 0000:3b:00.0 failed with error -1
"""
WPR2 = """\
[    5.100000] NVRM: _kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP
[    5.200000] NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x62:0x40:1861)
"""
OTHER_KERNEL = (
    "[    5.100000] nvidia: version magic '5.15.0-122-generic SMP mod_unload modversions ' should "
    "be '5.15.0-124-generic SMP mod_unload modversions '\n"
)
PLAIN = "[    5.200000] NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x26:0xffff:1290)\n"


@pytest.fixture
def incidents(tmp_path, capsys):
    """The incidents of a log."""

    def scanned(log):
        path = tmp_path / "dmesg"
        path.write_text(log, encoding="utf-8")
        run(["--json", str(path)])
        lines = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
        return [one["incident"] for one in lines if one["event"] == "incident"]

    return scanned


@pytest.mark.parametrize(
    ("log", "reason", "advice", "action"),
    [
        (NOUVEAU, "nouveau, owns the board", "blacklist nouveau", "check_config"),
        (BAR, "BAR is 0M", "Above 4G decoding", "check_config"),
        (OTHER_KERNEL, "another kernel", "dkms autoinstall -k $(uname -r)", "reload_driver"),
        (WPR2, "WPR2", "reset that GPU (nvidia-smi -r -i 0000:3b:00)", "reset_gpu"),
    ],
)
def test_the_reason_decides_what_to_do(incidents, log, reason, advice, action):
    """The reason stands in the cause, and the advice ends it."""
    (found,) = incidents(log)
    assert found["kind"] == "DriverNotLoaded"
    assert reason in found["cause_text"]
    assert advice in found["action_text"]
    assert found["action"] == action


def test_one_gpu_that_does_not_start_is_not_a_reason_to_reload_the_driver_for_all(incidents):
    """The others of the node may be at work; what the numbers mean is told."""
    (found,) = incidents(PLAIN)
    assert found["action"] == "reset_gpu"
    assert "reload" not in found["action_text"]
    assert "could not be set up" in found["cause_text"]


def test_another_boards_reason_is_not_taken(incidents):
    """A reason that names a board is that board's alone."""
    found = incidents(BAR + PLAIN.replace("3b:00", "5e:00"))
    by_subject = {one["subject"]: one["action"] for one in found}
    assert by_subject == {"gpu:0000:3b:00": "check_config", "gpu:0000:5e:00": "reset_gpu"}


def test_the_line_with_the_numbers_tells_the_reason(incidents):
    """The lines behind it only repeat that the start failed."""
    later = "[    5.300000] NVRM: GPU 0000:3b:00.0: rm_init_adapter failed, device minor number 2\n"
    first = "[    5.200000] NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x62:0x40:2393)\n"
    (told,) = incidents(first + later)
    assert "firmware did not start" in told["cause_text"]
    assert told["count"] == 2


def test_a_module_for_another_kernel_is_one_failure_however_it_is_told(incidents):
    """The kernel's word and modprobe's in one log: neither hides the other, one is on top."""
    found = incidents(
        "modprobe: ERROR: could not insert 'nvidia': Exec format error\n"
        "nvidia: disagrees about version of symbol module_layout\n"
        "step 1 of the installation is done\n"
        "step 2 of the installation is done\n"
    )
    assert {one["kind"] for one in found} == {"DriverNotLoaded"}
    assert [one["parent"] for one in found].count(None) == 1
