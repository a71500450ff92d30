"""A node's network: interfaces, adapters, names, and who reaches whom."""
