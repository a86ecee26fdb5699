"""Benchmarks of modulo schedules."""
