"""What the overlay as it is generated adds to the cost graph: layers whose engines overlap, and kernels that wait."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from mapper.models.algorithm_selection.choice import Algorithm, Dataflow
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.models.algorithm_selection.pipeline import Arrays
from mapper.models.algorithm_selection.running_cost import pools_after, running_time, waiting

Costs = NDArray[np.int64]


class RunningGraph:
    """Cycles for S arrays; ``allowed`` are the algorithms and the dataflows of every layer."""

    def __init__(
        self,
        network: OverlayNetwork,
        allowed: Iterable[tuple[tuple[Algorithm, ...], tuple[Dataflow, ...]]],
        arrays: Arrays,
    ) -> None:
        self.network, self.arrays = network, arrays
        self.times = [
            [running_time(network, at, name, flows, arrays) for name in names]
            for at, (names, flows) in enumerate(allowed)
        ]

    def vertex(self, at: int) -> Costs:
        """A layer's algorithms [S, choices], the pools after it, and its kernels where nothing hides them."""
        own = np.stack([time.own.total for time in self.times[at]], -1)
        own = own + pools_after(self.network, at, self.arrays)[:, np.newaxis]
        if at in self.network.running.ahead:
            return own
        return own + np.stack([waiting(self.network, at, time, None) for time in self.times[at]], -1)

    def waits(self) -> Iterator[tuple[int, int, Costs]]:
        """Edges between layers that run one after another: what the kernels of the second take longer than the first
        leaves them, [S, choices of the first, choices of the second]."""
        for at in sorted(self.network.running.ahead):
            rows = [
                np.stack([waiting(self.network, at, time, before) for time in self.times[at]], -1)
                for before in self.times[at - 1]
            ]
            yield at - 1, at, np.stack(rows, 1)
