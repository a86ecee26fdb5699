"""Searches for tilings: branch and bound, the constraint program, heuristics, prior dataflows."""
