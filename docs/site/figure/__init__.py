"""Figures of the kinds' pages: the machine of each kind, and a mapping that is solved anew when they are drawn."""
