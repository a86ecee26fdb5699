"""Searches for mappings onto memory hierarchies: branch and bound, brute force, random search, annealing."""
