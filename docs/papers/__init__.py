"""The tables and figures of the five papers, recomputed and set beside what is printed: ``python -m docs.papers``."""
