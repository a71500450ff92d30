"""What Slurm says of jobs and nodes, and how it is asked."""
