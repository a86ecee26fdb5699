"""Layers of networks on CGRAs: the loop nests they run as, how those are transformed, and what they cost."""
