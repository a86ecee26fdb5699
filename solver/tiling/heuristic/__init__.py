"""Heuristic searches of tilings, and the dataflows of earlier accelerators."""
