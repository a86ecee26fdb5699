"""What an answer to a PBQP instance is [Meng2021, sec. 4]."""
