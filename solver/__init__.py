"""How problems are solved: exact methods, heuristics, and the certificates they earn."""
