"""The parts of the main screen, each a pure function from a scene to lines."""
