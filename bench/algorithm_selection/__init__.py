"""Benchmarks of algorithm selections."""
