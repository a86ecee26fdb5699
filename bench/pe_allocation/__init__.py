"""Benchmarks of PE allocations."""
