"""Searches for modulo schedules: CP-SAT, time before space, iterative modulo scheduling, annealing."""
