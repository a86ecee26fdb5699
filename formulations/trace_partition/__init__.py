"""The partitioning problem: variables, constraints, objective, referee (004)."""
