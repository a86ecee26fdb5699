"""Modulo schedules on CGRAs: mapping values, minimal initiation intervals, cost (000, section V-C)."""
