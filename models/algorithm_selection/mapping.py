"""An algorithm selection: the array's shape, an algorithm and a dataflow per layer, and the layout of every tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mapper.models.algorithm_selection.choice import Algorithm, Choice
from mapper.models.algorithm_selection.layout import Format, format_of
from mapper.models.algorithm_selection.overlay.layer import Ends
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork


@dataclass(frozen=True)
class Selection:
    """``array`` P1 x P2; ``choices`` in the order of the overlay's layers; ``stores`` the label of each stored tensor's
    format, in the order of the overlay's stores; ``on_chip`` the stores, by position, that stay on the chip."""

    array: tuple[int, int]
    choices: tuple[Choice, ...]
    stores: tuple[str, ...]
    on_chip: tuple[int, ...] = ()

    def to_json(self, network: OverlayNetwork) -> dict[str, Any]:
        """The document of a selection for ``network``."""
        edges = [network.stores[at] for at in self.on_chip]
        return {
            "array": list(self.array),
            "choice": {
                name: {"algorithm": choice.algorithm, "dataflow": choice.dataflow}
                | ({"parts": choice.parts} if choice.parts > 1 else {})
                for name, choice in zip(network.names, self.choices, strict=True)
            },
            "stores": {store.name: label for store, label in zip(network.stores, self.stores, strict=True)},
            "on_chip": [[store.name, network.layers[store.readers[0]].name] for store in edges],
        }


def planes_of(network: OverlayNetwork, stores: Sequence[str], at: int) -> Ends:
    """Whether what layer ``at`` reads, and what it stores, lies channel by channel, where stored tensors have these
    labels."""
    reads, writes = network.source.get(at), network.sink.get(at)
    return (
        reads is not None and stores[reads] == "planes",
        writes is not None and stores[writes] == "planes",
    )


def reader_label(network: OverlayNetwork, store: int, algorithm: Algorithm) -> str:
    """The label of the format in which the only reader of an edge wants its input."""
    if network.machine.engines is not None:
        return network.labels[store][0]
    layer = network.layers[network.stores[store].readers[0]]
    wanted = format_of(layer, algorithm).layout
    layouts = [one.layout for one in network.formats[store]]
    return network.labels[store][layouts.index(wanted)]


def stored_format(network: OverlayNetwork, store: int, label: str) -> Format | None:
    """The format that a label means, None if the store has no such format."""
    labels = network.labels[store]
    return network.formats[store][labels.index(label)] if label in labels else None
