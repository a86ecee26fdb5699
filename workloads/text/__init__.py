"""Texts and names as they come from files: read strictly, shown safely."""
