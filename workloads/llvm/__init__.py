"""LLVM IR: from a file to the dataflow graph of one innermost loop."""
