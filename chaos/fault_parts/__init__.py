"""What faults of one family have in common."""
