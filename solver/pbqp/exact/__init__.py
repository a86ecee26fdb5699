"""Searches that prove the least cost of an instance."""
