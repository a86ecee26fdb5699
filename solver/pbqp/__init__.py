"""Solving PBQP: reduction of series-parallel graphs, elimination, branch and bound, heuristics [Meng2021, sec. 4]."""
