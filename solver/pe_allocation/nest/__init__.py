"""Searches for mappings of loop nests to a TCPA."""
