"""What a mapping is and what it costs: the mapping values and the papers' analytical models."""
