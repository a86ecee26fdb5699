"""The control sequence of an algorithm selection."""

from __future__ import annotations

from dataclasses import replace

from mapper.models.algorithm_selection.choice import Algorithm, Choice
from mapper.models.algorithm_selection.control.sequence import Control, control
from mapper.models.algorithm_selection.layout import format_of
from mapper.models.algorithm_selection.mapping import Selection, stored_format
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.workloads.network.network_layer import LayerNetwork


def selection_control(network: LayerNetwork, overlay: OverlayNetwork, selection: Selection) -> Control:
    """What the controller runs for ``selection``; ``overlay`` is what the overlay runs of ``network``.

    Raises: InputError if an algorithm cannot compute a layer as the overlay does.
    """
    choices = {
        name: Choice(one.algorithm, one.dataflow)
        for name, one in zip(overlay.names, selection.choices, strict=True)
    }
    tensors = stored_tensors(network, overlay)
    stores = {
        name: _reader(overlay, at, selection.stores[at]) for at, names in tensors.items() for name in names
    }
    planes = frozenset(
        name for at, names in tensors.items() for name in names if selection.stores[at] == "planes"
    )
    kept = frozenset(name for at in selection.on_chip for name in tensors[at])
    engines = overlay.machine.engines
    if engines is not None:  # What the host makes lies as the 3-D tensor, too.
        made_here = [name for layer in network.layers for name, _ in layer.outputs]
        stores = dict.fromkeys(made_here) | stores
    made = control(network, selection.array, choices, stores, kept, planes=planes)
    return made if engines is None else replace(made, wires=engines.block_wires)


def stored_tensors(network: LayerNetwork, overlay: OverlayNetwork) -> dict[int, tuple[str, ...]]:
    """The tensors that each of the overlay's stores is, by the store's position: what its readers read, those after a
    pool or the like left out. None are left of one that such layers alone read."""
    found = {}
    for at, store in enumerate(overlay.stores):
        readers = [overlay.layers[one].name for one in store.readers if one not in store.through]
        found[at] = tuple(dict.fromkeys(network.layer(name).inputs[0].memory for name in readers))
    return found


def _reader(overlay: OverlayNetwork, at: int, label: str) -> tuple[str, Algorithm] | None:
    """The layer and the algorithm that read a store as its label says, None for the plain tensor."""
    wanted, store = stored_format(overlay, at, label), overlay.stores[at]
    if wanted is None or wanted.layout in ("tensor3d", "planes"):
        return None
    for one in store.readers:
        layer = overlay.layers[one]
        for algorithm in layer.algorithms(overlay.machine):
            if one not in store.through and format_of(layer, algorithm) == wanted:
                return layer.name, algorithm
    raise AssertionError("every format but the plain one has a reader")
