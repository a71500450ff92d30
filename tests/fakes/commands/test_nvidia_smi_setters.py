"""What nvidia-smi changes, and how it refuses."""

from __future__ import annotations

import pytest


def test_a_power_limit_is_set_on_every_gpu(smi):
    """Old and new value are told, and all clients see the new one."""
    said = smi("-pl", "500")
    assert said.out == (
        "Power limit for GPU 00000000:1B:00.0 was set to 500.00 W from 700.00 W.\n"
        "Power limit for GPU 00000000:43:00.0 was set to 500.00 W from 700.00 W.\n"
        "All done.\n"
    )
    assert said.status == 0
    assert [gpu.power_limit_mw for gpu in smi.rig.node.gpus] == [500_000, 500_000]
    assert smi.csv("--query-gpu=power.limit,enforced.power.limit") == [["500.00 W"] * 2] * 2


def test_a_power_limit_is_set_on_one_gpu(smi):
    """With ``-i`` the others keep theirs."""
    assert smi("-i", "1", "--power-limit=450.5").status == 0
    assert [gpu.power_limit_mw for gpu in smi.rig.node.gpus] == [700_000, 450_500]


@pytest.mark.parametrize("watts", ["100", "900"])
def test_a_power_limit_out_of_range_is_refused(watts, smi):
    """The range is told, and nothing is changed; status 2."""
    said = smi("-pl", watts)
    assert said.out == (
        f"Provided power limit {watts}.00 W is not a valid power limit which should be between "
        "200.00 W and 700.00 W for GPU 00000000:1B:00.0\n"
        "Terminating early due to previous errors.\n"
    )
    assert said.status == 2
    assert [gpu.power_limit_mw for gpu in smi.rig.node.gpus] == [700_000] * 2


@pytest.mark.parametrize("argv", [("-pl", "lots"), ("-pm", "2"), ("-lgc", "a,b"), ("-ac", "1980")])
def test_a_value_that_is_none_is_refused(argv, smi):
    """Status 2; the value is named."""
    said = smi(*argv)
    assert f'"{argv[1]}" is not a' in said.out
    assert said.status == 2


@pytest.mark.parametrize("value", ["1", "ENABLED", "enabled"])
def test_persistence_that_is_on_already_is_no_error(value, smi):
    """It says so of every GPU."""
    said = smi("-pm", value)
    assert said.lines[0] == "Persistence mode is already Enabled for GPU 00000000:1B:00.0."
    assert (said.lines[-1], said.status) == ("All done.", 0)


@pytest.mark.parametrize(
    ("argv", "function", "inputs", "said"),
    [
        (
            ("-lgc", "1500"),
            "nvmlDeviceSetGpuLockedClocks",
            (1500, 1500),
            'GPU clocks set to "(gpuClkMin 1500, gpuClkMax 1500)" for GPU 00000000:1B:00.0',
        ),
        (
            ("-lgc", "210,1980"),
            "nvmlDeviceSetGpuLockedClocks",
            (210, 1980),
            'GPU clocks set to "(gpuClkMin 210, gpuClkMax 1980)" for GPU 00000000:1B:00.0',
        ),
        (("-rgc",), "nvmlDeviceResetGpuLockedClocks", (), None),
        (
            ("-ac", "2619,1980"),
            "nvmlDeviceSetApplicationsClocks",
            (2619, 1980),
            'Applications clocks set to "(MEM 2619, SM 1980)" for GPU 00000000:1B:00.0',
        ),
        (("-rac",), "nvmlDeviceResetApplicationsClocks", (), None),
        (
            ("-pm", "0"),
            "nvmlDeviceSetPersistenceMode",
            (0,),
            "Disabled persistence mode for GPU 00000000:1B:00.0.",
        ),
    ],
)
def test_what_nvml_lets_be_set_is_set_and_told(argv, function, inputs, said, smi, answering):
    """The NVML function with the values as they were given, and the real words."""
    nvml = answering(**{function: 0})
    done = smi(*argv, "-i", "0", nvml=nvml)
    assert nvml.calls == [(function, *inputs)]
    assert done.lines == ([said] if said else []) + ["All done."]
    assert done.status == 0


NOT_SUPPORTED = [
    (
        ("-lgc", "1500"),
        "nvmlDeviceSetGpuLockedClocks",
        "Setting locked GPU clocks is not supported for GPU {}.",
    ),
    (
        ("-ac", "2619,1980"),
        "nvmlDeviceSetApplicationsClocks",
        "Setting applications clocks is not supported for GPU {}.",
    ),
    (
        ("-pl", "500"),
        "nvmlDeviceSetPowerManagementLimit",
        "Changing power management limit is not supported for GPU: {}.",
    ),
]


@pytest.mark.parametrize(("argv", "function", "words"), NOT_SUPPORTED)
def test_what_a_gpu_cannot_do_is_a_warning_and_a_success(argv, function, words, smi, answering):
    """The trap that scripts fall into; ``-eow`` makes it an error, with status 3."""
    nvml = answering(**{function: 3})
    warning = words.format("00000000:1B:00.0")
    said = smi(*argv, "-i", "0", nvml=nvml)
    assert said.lines == [warning, "Treating as warning and moving on.", "All done."]
    assert said.status == 0
    strict = smi(*argv, "-i", "0", "-eow", nvml=nvml)
    assert strict.lines == [warning, "Terminating early due to previous errors."]
    assert strict.status == 3


@pytest.mark.parametrize(
    ("argv", "function", "words"),
    [
        (
            ("-lgc", "1500"),
            "nvmlDeviceSetGpuLockedClocks",
            "The current user does not have permission to change clocks for GPU 00000000:1B:00.0.",
        ),
        (
            ("-pl", "500"),
            "nvmlDeviceSetPowerManagementLimit",
            "Failed to set power management limit for GPU 00000000:1B:00.0: "
            "Insufficient Permissions",
        ),
        (
            ("-pm", "0"),
            "nvmlDeviceSetPersistenceMode",
            "Unable to set persistence mode for GPU 00000000:1B:00.0: Insufficient Permissions",
        ),
    ],
)
def test_who_may_not_is_told_so(argv, function, words, smi, answering):
    """At the first GPU, with status 4."""
    said = smi(*argv, nvml=answering(**{function: 4}))
    assert said.lines == [words, "Terminating early due to previous errors."]
    assert said.status == 4


def test_a_gpu_in_use_cannot_be_reset(smi):
    """Those with processes are named; status 255."""
    said = smi("-r")
    assert said.lines[:3] == [
        "The following GPUs could not be reset:",
        "  GPU 00000000:1B:00.0: In use by another client",
        "  GPU 00000000:43:00.0: In use by another client",
    ]
    assert said.status == 255


def test_an_idle_gpu_cannot_be_reset_through_nvml_either(make_smi):
    """NVML has no such function; it is never taken for done."""
    said = make_smi(idle=True)("--gpu-reset", "-i", "0")
    assert said.lines[1:] == ["  GPU 00000000:1B:00.0: Not Supported"]
    assert said.status == 3
