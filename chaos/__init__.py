"""Drills: what goes wrong in a fake world, when, and the command ``gpuchaos``."""
