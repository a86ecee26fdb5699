"""Searches for partitions of networks on Snowflake."""
