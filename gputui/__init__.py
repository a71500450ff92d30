"""A terminal monitor for NVIDIA GPUs: what is wrong, where, since when, and what to do."""

__version__ = "0.1.0"
