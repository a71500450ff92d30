"""Findings about scripts, one sort a file. A new one is a new file: nothing else lists them."""
