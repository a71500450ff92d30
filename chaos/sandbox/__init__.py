"""Where a program runs on a fake node: its own namespaces, or an environment at the least."""
