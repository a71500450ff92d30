"""The server that is not there: a world with physics, and the views that programs see of it."""
