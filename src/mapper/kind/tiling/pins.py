"""Pinned decisions of the kind ``tiling``: which of them concern a layer; `Pins.parse` reads them."""

from __future__ import annotations

from collections.abc import Mapping


def own_pins(fix: Mapping[str, str], name: str, names: list[str]) -> dict[str, str]:
    """The decisions that concern one layer: those without a layer's name, and those with its own."""
    own = {}
    for key, value in fix.items():
        head, _, tail = key.partition(".")
        if head == name and tail:
            own[tail] = value
        elif head not in names:
            own[key] = value
    return own
