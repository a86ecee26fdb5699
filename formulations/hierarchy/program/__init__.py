"""The constraint program of mappings onto hierarchies."""
