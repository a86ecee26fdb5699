"""Factors that need not divide: every way to cut every loop, in cells that are split until one is costed."""
