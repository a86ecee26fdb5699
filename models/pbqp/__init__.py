"""What an answer to a PBQP instance is (003, section 4)."""
