"""Heuristic partitions: the rule of the paper, and annealing."""
