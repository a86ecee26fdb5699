"""Whole kernels: all loops of a function, what starts them, and what runs between them."""
