"""The referee of whole kernels."""
