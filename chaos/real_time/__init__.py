"""Runs by the host's clock, and those who join them."""
