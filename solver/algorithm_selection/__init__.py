"""Searches of algorithm selection problems (003)."""
