"""Heuristic schedulers, and the arrays on which they place and route."""
