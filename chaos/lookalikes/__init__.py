"""Look-alike commands on a live node: calls come over a socket, and are answered from the world."""
