"""The referee of algorithm selections."""
