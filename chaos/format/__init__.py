"""The format of scenario files: from text to types, or to mistakes at their places."""
