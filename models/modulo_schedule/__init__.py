"""Modulo schedules on CGRAs: mapping values, minimal initiation intervals, cost [Bae2018, sec. V-C]."""
