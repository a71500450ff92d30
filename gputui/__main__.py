"""``python -m gputui`` is ``gputui``."""

from __future__ import annotations

import sys

from gputui.cli import main

sys.exit(main())
