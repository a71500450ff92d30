"""What is known of errors and versions, as data with its source, and the readers of that data."""
