"""A node's operating system and the machine round it: services, modules, storage, logs."""
