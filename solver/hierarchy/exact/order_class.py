"""Orders of the loops of one level that are as good as all others: what matters is which loops lie innermost.

A tensor stays while loops turn that it does not depend on, as long as none outside them does. After an innermost loop,
those that move no tensor still staying come next; then each loop that lets at least one of them stay is tried.
"""

from __future__ import annotations

from collections.abc import Sequence

Orders = tuple[tuple[int, ...], ...]
MOST_ORDERS = 200
"""Beyond, all orders would be too many to go through; no nest of three tensors comes near."""


def order_classes(relevant: Sequence[frozenset[int]], given: Sequence[int], loops: Sequence[int]) -> Orders:
    """Orders, innermost first, one of which is at least as good as any other, whichever of the loops run once.
    ``relevant``: the loops of each tensor; ``given``: loops whose order is fixed, innermost first."""
    if given:
        rest = [loop for loop in loops if loop not in given]
        # Loops that are given and run once leave the innermost place to the others.
        return tuple((*given, *order) for order in _classes(relevant, rest)) if rest else (tuple(given),)
    return _classes(relevant, loops)


def _classes(relevant: Sequence[frozenset[int]], loops: Sequence[int]) -> Orders:
    found: dict[tuple[int, ...], None] = {}

    def extend(order: tuple[int, ...], staying: tuple[frozenset[int], ...]) -> None:
        free = tuple(loop for loop in loops if loop not in order and not any(loop in one for one in staying))
        order = (*order, *free) if staying else order
        rest = [loop for loop in loops if loop not in order]
        grown = False
        for loop in rest:
            left = tuple(one for one in staying if loop not in one)
            if left:
                extend((*order, loop), left)
                grown = True
        if not grown or len(staying) > 1:
            found[(*order, *rest)] = None

    for loop in loops:
        extend((loop,), tuple(one for one in relevant if loop not in one))
    return tuple(found) or ((),)
