"""Streams of node samples, one source a file."""
