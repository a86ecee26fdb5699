"""One part of a problem: its search, and the referee's verdict on what that finds."""
