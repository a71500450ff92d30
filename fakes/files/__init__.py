"""Files that a node has of its own, made from the world: one area of the file system a module."""
