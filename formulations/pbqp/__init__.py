"""PBQP as a problem, its integer linear program, its referee, and why an instance has no answer [Meng2021, sec. 4]."""
