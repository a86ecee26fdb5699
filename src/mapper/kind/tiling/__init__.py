"""The kind ``tiling``: loop nests on dataflow accelerators."""
