"""Benchmarks of partitions for Snowflake."""
