"""Searches that prove the best tiling."""
