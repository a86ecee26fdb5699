"""The constraint program of tiling, and the tables it chooses from."""
