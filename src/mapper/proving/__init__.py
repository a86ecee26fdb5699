"""Proofs of solutions: written as documents, and checked by programs that share nothing with what wrote them."""
