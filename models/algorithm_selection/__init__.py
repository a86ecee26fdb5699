"""What an algorithm selection is and what it costs [Meng2021]."""
