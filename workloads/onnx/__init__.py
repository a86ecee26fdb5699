"""ONNX files: from bytes that may be hostile to networks."""
