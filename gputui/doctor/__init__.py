"""Pre-flight checks of a node: one a file in ``checks/``, each with the command that mends it."""
