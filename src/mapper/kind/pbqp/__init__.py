"""PBQP instances as such, for which documents say ``algorithm_selection``."""
