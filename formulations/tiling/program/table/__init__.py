"""Tables of tiles bounded by floors, and the constraint program that chooses from them."""
