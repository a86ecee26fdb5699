"""Shapes of an ONNX graph's tensors: those the file gives, those that follow, and batches that change them."""
