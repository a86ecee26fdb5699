"""How recurrences on a TCPA are mapped."""
