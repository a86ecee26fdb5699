"""Networks as programs: kernels in configuration words, the driver around them, and what lies in memory."""
