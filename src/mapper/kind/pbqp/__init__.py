"""PBQP instances as such, for which documents say ``algorithm_selection``.

There is no pins.py: ``--fix VERTEX=CHOICE`` is all that can be pinned, and the problem itself reads it.
"""
