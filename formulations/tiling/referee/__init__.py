"""The referee of tilings."""
