"""Benchmarks of PBQP."""
