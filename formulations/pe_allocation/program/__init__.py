"""The programs of layer-parallel mode: PEs for all layers at once."""
