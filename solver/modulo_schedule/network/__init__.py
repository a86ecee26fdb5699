"""Auto-tuning of layers (000, section V): unroll vectors, and real schedules of the best of them."""
