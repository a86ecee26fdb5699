"""Why a network has no numbers of its own on the array."""

from __future__ import annotations


class UnknownNumbersError(Exception):
    """A layer that the array or the tile's processor runs as time and traffic, but whose numbers nothing computes."""
