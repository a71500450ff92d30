"""Scenarios, faults and runs: what happens to the fake server, and what was made of it."""
