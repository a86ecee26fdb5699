"""Modulo scheduling: the problem, the constraint program, and the referee; in `network/` the same for whole layers.

It has no bound.py: the bound is MII, which the model states (`models/modulo_schedule/bound.py`).
"""
