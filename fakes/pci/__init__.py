"""A node's PCI bus: its devices, and their configuration space."""
