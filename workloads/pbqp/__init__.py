"""PBQP instances and the files they come in."""
