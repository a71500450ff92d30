"""The hardware of one GPU and what joins GPUs: physics, errors, and what mends them."""
