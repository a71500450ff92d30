"""What is known of codes and texts: data, each row with its source. No code."""
