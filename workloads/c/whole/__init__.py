"""From a function in C to a whole kernel."""
