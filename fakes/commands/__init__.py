"""Look-alike commands, one a file: what a node's programs say, answered from the world."""
