"""Recurrences on a TCPA: what an iteration does, when values must be there, and what a mapping costs."""
