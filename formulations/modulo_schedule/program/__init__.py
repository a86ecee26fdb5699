"""The constraint program of modulo scheduling, family by family."""
