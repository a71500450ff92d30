"""Conditions on the world, one sort of subject a file: a GPU's, a node's, a job's, a file's."""
