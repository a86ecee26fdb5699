"""Auto-tuning of layers [Bae2018, sec. V]: unroll vectors, and real schedules of the best of them."""
