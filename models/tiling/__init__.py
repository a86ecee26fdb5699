"""Tiling and ordering of loop nests on dataflow accelerators: mapping values and cost [Dave2019]."""
