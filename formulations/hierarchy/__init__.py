"""Mapping loop nests onto memory hierarchies."""
