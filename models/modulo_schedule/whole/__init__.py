"""Whole kernels: what their loops are mapped to, how often each is started, and what that costs."""
