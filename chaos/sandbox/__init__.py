"""Tiers in which a program meets the fake node."""
