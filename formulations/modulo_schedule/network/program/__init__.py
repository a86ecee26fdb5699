"""The layer problem in symbols, and the best cover of a nest by unrolled boxes."""
