"""Least latency in the streaming model: a tree that parts paces, with bounds that are counted exactly."""
