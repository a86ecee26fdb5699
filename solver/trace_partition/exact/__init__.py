"""Searches that prove the best partition."""
