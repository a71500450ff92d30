"""The names in /dev that a node's GPUs have."""

from chaos.sandbox.own_files import device_names


def test_nvswitches_have_device_files_where_there_are_any():
    """One each, and one to steer them; a node without switches has neither."""
    found = [name for name in device_names(8, switches=4) if "nvswitch" in name]
    assert found == ["nvidia-nvswitchctl", *(f"nvidia-nvswitch{number}" for number in range(4))]
    assert not any("nvswitch" in name for name in device_names(8))
