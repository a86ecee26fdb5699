"""PBQP as a problem, its programs, its referee, and why an instance has no answer [Meng2021, sec. 4].

It has no bound.py: costs are bounded by moving them from edges to vertices, which is a search's own business
(`solver/pbqp/exact/bound.py`).
"""
