"""Commands of ``gputui`` that are not the monitor, one a file: ``gputui NAME ...``."""
