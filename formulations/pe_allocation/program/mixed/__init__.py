"""The programs of mixed mode: runs of fused layers one after another."""
