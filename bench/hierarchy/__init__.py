"""Benchmarks of the kind ``hierarchy``."""
