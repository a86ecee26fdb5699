"""Simulators that run Snowflake programs."""
