"""The kind ``hierarchy``: loop nests on machines of any memory hierarchy."""
