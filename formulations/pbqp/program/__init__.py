"""PBQP as an integer linear program and as a constraint program."""
