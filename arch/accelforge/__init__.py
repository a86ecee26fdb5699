"""AccelForge's machines as memory hierarchies."""
