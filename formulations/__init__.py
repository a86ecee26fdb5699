"""The optimisation problems, each reading like its mathematical definition, and their referees."""
