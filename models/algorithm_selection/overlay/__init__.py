"""A network as the overlay runs it."""
