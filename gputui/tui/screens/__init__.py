"""The screens: the main one, and pages that are opened and read."""
