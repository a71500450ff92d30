"""The screen.

What is drawn is a pure function of what the monitor knows, the size and the time
(:mod:`gputui.tui.frame`); Textual brings keys in and changed cells out. ``format``, ``text``,
``columns``, ``layout``, ``history``, ``pages`` and ``panels/`` know nothing of Textual, and are
tested without it.
"""
