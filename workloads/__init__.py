"""What is to be mapped: perfect loop nests, networks, and the catalogue of built-in ones."""
