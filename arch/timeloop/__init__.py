"""Machines as Timeloop's files describe them: architecture (0.2 to 0.4), constraints, and tables of energy and area."""
