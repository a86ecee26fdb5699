"""Whole kernels, run: loops cycle by cycle, the host as the text says, beside the system's compiler."""
