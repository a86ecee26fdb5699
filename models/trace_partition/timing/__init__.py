"""The time of steps: vector unit, transfers, instructions."""
