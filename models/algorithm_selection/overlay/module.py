"""Modules of a network, as the paper's Figs. 11 and 12 show their time: what lies between concatenations."""

from __future__ import annotations

from mapper.models.algorithm_selection.cost import SelectionCost
from mapper.models.algorithm_selection.layout import store_units
from mapper.models.algorithm_selection.mapping import Selection, stored_format
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork


def module_of(network: OverlayNetwork) -> list[int]:
    """The module of every layer: 0 before the first branching, one more after every concatenation."""
    found: list[int] = []
    for at in range(len(network.layers)):
        source = network.source.get(at)
        if source is None:
            found.append(0)
            continue
        store = network.stores[source]
        before = max((found[share.layer] for share in store.shares if share.layer is not None), default=0)
        first = store.vertex and before == 0
        found.append(before + (first or len(store.shares) > 1))
    return found


def layer_units(network: OverlayNetwork, selection: Selection, cost: SelectionCost) -> list[int]:
    """Time of every layer, its loads and stores included, in the machine's units."""
    times = [one.array + one.load + one.weights for one in cost.layers]
    for at, store in enumerate(network.stores):
        written = stored_format(network, at, selection.stores[at])
        assert written is not None
        for share in store.shares:
            if share.layer is not None and at not in selection.on_chip:
                producer = selection.choices[share.layer].algorithm
                times[share.layer] += store_units(written, share.channels, producer, network.machine)
    return times


def module_units(network: OverlayNetwork, selection: Selection, cost: SelectionCost) -> list[int]:
    """Time of every module, loads and stores of its layers included, in the machine's units."""
    part = module_of(network)
    totals = [0] * (max(part) + 1)
    for module, units in zip(part, layer_units(network, selection, cost), strict=True):
        totals[module] += units
    return totals
