"""What the monitor knows, written for machines and for pipes. One output a file."""
