"""What an error means, who says what of it, and what to do: the command ``gputui explain``."""
