"""C files: from text to the dataflow graph of one innermost loop."""
