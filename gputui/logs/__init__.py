"""Lines in, typed events out."""
