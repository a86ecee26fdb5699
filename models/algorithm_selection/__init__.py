"""What an algorithm selection is and what it costs (003)."""
