"""What a solution becomes: code for the machine."""
