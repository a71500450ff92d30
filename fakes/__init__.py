"""The server that is not there: a world with physics, and the views through which programs see it."""
