"""What one can ask of mapper from Python: posing, solving, judging, comparing, and what answers are."""
