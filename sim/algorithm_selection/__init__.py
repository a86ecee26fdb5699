"""Functional and cycle-accurate models of the DYNAMAP overlay."""
