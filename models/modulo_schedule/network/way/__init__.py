"""How a layer can run: its nests, by what it computes."""
