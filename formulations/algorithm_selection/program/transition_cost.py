"""What a tensor costs between its producer and its readers: storing it, and loading it where it leaves the chip."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mapper.formulations.algorithm_selection.program.network_choice import NetworkChoices, producer
from mapper.formulations.algorithm_selection.program.whole_cost import Costs, Quantity, below, row
from mapper.models.algorithm_selection.choice import Algorithm
from mapper.models.algorithm_selection.cost import moved_energy
from mapper.models.algorithm_selection.layer_time import Arrays
from mapper.models.algorithm_selection.layout import store_units
from mapper.models.algorithm_selection.mapping import reader_label, stored_format
from mapper.models.algorithm_selection.running_cost import stays


def transition(
    choices: NetworkChoices, at: int, loads: Sequence[Costs], quantity: Quantity, arrays: Arrays
) -> tuple[int, int, Costs]:
    """The transition between two consecutive layers: store and load, or nothing where the tensor stays on chip."""
    store = choices.network.stores[at]
    tail, head = producer(store), store.readers[0]
    stored = storing(choices, at, 0, quantity)
    columns = [
        choices.labels[at].index(reader_label(choices.network, at, one)) for one in choices.algorithms[head]
    ]
    if choices.machine.engines is not None:
        kept = stays(choices.network, at, arrays)
        moved = ~(kept[:1] if (kept == kept[:1]).all() else kept)[:, np.newaxis, np.newaxis]
    else:
        moved = np.array(
            [
                [not choices.kept(at, one, other) for other in choices.algorithms[head]]
                for one in choices.algorithms[tail]
            ]
        )
    matrix: Costs = below(stored[:, columns] + loads[head][:, np.newaxis, :], choices.network.name) * moved
    return tail, head, matrix


def storing(choices: NetworkChoices, at: int, position: int, quantity: Quantity) -> Costs:
    """Costs of storing one share of a tensor: [algorithms of its producer, formats]; one row where it has none."""
    share = choices.network.stores[at].shares[position]
    producers: Sequence[Algorithm | None] = (
        (None,) if share.layer is None else choices.algorithms[share.layer]
    )
    found = []
    for writer in producers:
        costs = []
        for label in choices.labels[at]:
            written = stored_format(choices.network, at, label)
            assert written is not None
            if quantity == "latency" and choices.machine.engines is not None:
                costs.append(0)
            elif quantity == "energy":
                costs.append(moved_energy(written.words(share.channels), choices.machine))
            else:
                costs.append(store_units(written, share.channels, writer, choices.machine))
        found += costs
    return row(found, choices.network.name).reshape(len(producers), len(choices.labels[at]))
