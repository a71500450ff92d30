"""What a journal comes to: what is meant, what was said, and the score."""
