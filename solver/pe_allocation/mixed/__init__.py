"""Mixed mode: searches over runs of fused layers."""
