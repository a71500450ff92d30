"""NVML's view of the world: what each function says, and how it is carried to a program."""
