"""Logs read offline: the events in them, and the incidents that these make."""
