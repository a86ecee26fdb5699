"""The referee of assignments."""
