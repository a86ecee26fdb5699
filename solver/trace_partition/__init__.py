"""Searches for partitions: CP-SAT, the chain's dynamic program, brute force, the paper's rule, annealing."""
