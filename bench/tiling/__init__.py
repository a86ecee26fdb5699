"""Benchmarks of tilings."""
