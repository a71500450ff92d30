"""A Kubernetes cluster as its API shows it, made from the world whenever it is asked."""
