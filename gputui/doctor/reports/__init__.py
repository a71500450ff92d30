"""How the doctor tells what it found, one way a file; each is a function of the results."""
