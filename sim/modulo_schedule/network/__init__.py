"""Compiled networks on a CGRA: an engine in machine code for their kernels, and the driver around them."""
