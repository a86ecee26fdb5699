"""How maps lie in DRAM and in the buffers, and the paths on which movers bring them from one to the other."""
