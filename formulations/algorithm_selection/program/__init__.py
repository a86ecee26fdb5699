"""The cost graph of a network, a PBQP instance for every shape of the array."""
