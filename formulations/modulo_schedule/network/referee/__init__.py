"""The referee of layers."""
