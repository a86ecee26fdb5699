"""Methods for whole kernels: those for one loop, loop by loop."""
