"""The paper's Algorithm 1 and baselines, and annealing."""
