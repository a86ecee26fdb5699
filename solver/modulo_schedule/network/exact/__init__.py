"""Loops of tuned layers, decided exactly."""
