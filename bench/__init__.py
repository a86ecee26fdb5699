"""Benchmarks: each prints ratios; run them all with ``make bench`` or one with ``python -m bench.NAME``."""
