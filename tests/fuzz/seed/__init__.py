"""Valid inputs of every reader, from which the hostile ones are made."""
