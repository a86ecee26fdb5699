"""Schedulers that prove the initiation interval."""
