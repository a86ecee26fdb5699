"""The schedule of a recurrence's tiles as an integer linear program."""
