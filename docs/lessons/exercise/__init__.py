"""What the exercises of each lesson ask, and references that share no code with the lessons."""
