"""Programs of PEs as words of operations: what each does, when, and its bits."""
