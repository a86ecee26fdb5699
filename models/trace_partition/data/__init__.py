"""Weights and biases in Q8.8, as they lie in memory."""
