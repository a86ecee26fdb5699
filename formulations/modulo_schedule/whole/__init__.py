"""Whole kernels as problems: a schedule for every loop, for the fewest cycles of all together."""
