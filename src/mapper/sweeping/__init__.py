"""One problem over a grid of machines, here or on a cluster of processes."""
