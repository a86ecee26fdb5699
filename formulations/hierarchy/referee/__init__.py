"""The referee of mappings onto a hierarchy; a closed room."""
