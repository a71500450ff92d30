"""How the ranks of a job come together, and what they say where they do not.

By the order in which a training job meets them: names and PyTorch's store (rendezvous), Gloo's mesh
of connections, NCCL's bootstrap, its network, its rings. The first thing that is wrong ends the
start, so that mending it shows the next.
"""
