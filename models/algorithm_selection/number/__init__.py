"""The integers that a network is run with on the overlay."""
