"""Solving PBQP: reduction of series-parallel graphs, elimination, branch and bound, heuristics (003, section 4)."""
