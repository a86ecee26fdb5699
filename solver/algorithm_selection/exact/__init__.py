"""Searches that prove the best selection over all shapes of the array."""
