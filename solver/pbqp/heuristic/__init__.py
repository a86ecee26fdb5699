"""Heuristics for PBQP."""
