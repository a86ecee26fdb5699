"""Machines: one value type per class, read from validated YAML."""
