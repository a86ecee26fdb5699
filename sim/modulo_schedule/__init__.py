"""Cycle-accurate simulation of configuration words."""
