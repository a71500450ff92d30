"""The C library ``libnvidia-ml.so.1`` of the fake node: its sources, its table, its build."""
