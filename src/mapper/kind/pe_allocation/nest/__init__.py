"""Loop nests on a TCPA, as the commands see them."""
