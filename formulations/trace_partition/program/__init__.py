"""The constraint program of trace partitioning, and the options of each layer that it chooses from."""
