"""The referee of allocations."""
