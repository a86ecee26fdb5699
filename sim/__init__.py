"""Whether a mapping runs, computes the right numbers, and costs what the model said."""
