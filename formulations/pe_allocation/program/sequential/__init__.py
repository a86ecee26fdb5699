"""Layers one after another: the closed form, and the program it is held against."""
