"""Recurrences on a TCPA as problems: the value, and reasons why there is no mapping."""
