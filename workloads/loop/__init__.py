"""Innermost loops while they become graphs: operations, forms of indices, dependences, and passes over them."""
