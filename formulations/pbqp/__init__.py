"""PBQP as a problem, its integer linear program, its referee, and why an instance has no answer (003, section 4)."""
