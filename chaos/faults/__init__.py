"""The faults: one file each, found by being here. See ``chaos/fault.py`` for what one is."""
