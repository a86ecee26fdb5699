"""Exact search where bounds may grow: over all ways to cover them by factors of the four levels."""
