"""Mapped networks as programs: where everything lies in memory, and the driver's steps."""
