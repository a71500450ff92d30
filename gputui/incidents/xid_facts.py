"""What is known of each Xid, as rules use it."""

from __future__ import annotations

from gputui.facts.xid import XidFact, xid_fact

__all__ = ["XidFact", "xid_fact"]
