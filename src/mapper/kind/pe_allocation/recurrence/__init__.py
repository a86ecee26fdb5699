"""Recurrences on a TCPA, as the commands see them."""
