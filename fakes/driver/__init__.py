"""The driver: what it prints and announces, and what may be wrong with it."""
