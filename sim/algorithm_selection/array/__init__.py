"""The systolic array cycle by cycle."""
