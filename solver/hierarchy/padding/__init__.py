"""Bounds of loops that may grow: which sizes are worth a search, what they cost in any case, who leaves them out."""
