"""Files written whole, temporary folders, and processes that end when this one does."""
