"""Searches that prove nothing."""
