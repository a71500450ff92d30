"""Which slot a board sits in."""

from gputui.sources.slots import slot_of


def test_a_slot_is_found_by_its_address(tree):
    """The firmware names slots; a board elsewhere has none."""
    tree.write(
        {
            "sys/bus/pci/slots/7/address": "0000:3b:00",
            "sys/bus/pci/slots/12-1/address": "0000:86:00",
        }
    )
    assert slot_of(tree.root, "0000:86:00") == "12-1"
    assert slot_of(tree.root, "0000:01:00") is None


def test_a_machine_that_tells_no_slots_has_none(tree):
    """Many virtual machines do not."""
    assert slot_of(tree.root, "0000:3b:00") is None
