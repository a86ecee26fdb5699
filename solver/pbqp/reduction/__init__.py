"""Reductions and elimination of vertices, and the orders in which they go."""
