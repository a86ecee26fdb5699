"""Methods that hand a program to a solver."""
