"""The partitioning problem: variables, constraints, objective, referee [Chang2018]."""
