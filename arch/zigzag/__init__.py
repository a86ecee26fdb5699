"""ZigZag's machines as memory hierarchies."""
