"""Dataflow graphs and kernels: files, documents, opcodes, and what they compute."""
