"""Configuration words: what the array runs."""
