"""Layer-parallel mode: searches, stages, and Pareto fronts."""
