"""Expectations, one a file. A new one is a new file here: nothing else lists them."""
