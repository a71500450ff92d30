"""Faults, one a file."""
