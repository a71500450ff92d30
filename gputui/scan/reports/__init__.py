"""What a scan found, written for machines and for people. One form a file."""
