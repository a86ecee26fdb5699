"""A network with numbers of its own: its frames, the tile's processor, and onnxruntime beside it."""
