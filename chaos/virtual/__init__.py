"""Runs in virtual time, with and without real processes."""
