"""What the overlay as it is generated adds to the cost graph: layers whose engines overlap, kernels that wait, and
stores that hold the next layer up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mapper.formulations.algorithm_selection.program.network_choice import Way
from mapper.models.algorithm_selection.choice import Algorithm, Dataflow
from mapper.models.algorithm_selection.layer_time import Arrays
from mapper.models.algorithm_selection.overlay.layer import Ends
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.models.algorithm_selection.running_cost import (
    RunningTime,
    held_up,
    holds_up,
    pools_after,
    running_times,
    waiting,
)

Costs = NDArray[np.int64]


class RunningGraph:
    """Cycles for S arrays; ``choices`` are the ways of every layer, dataflows one after another."""

    def __init__(
        self,
        network: OverlayNetwork,
        choices: Iterable[Sequence[Way]],
        arrays: Arrays,
    ) -> None:
        self.network, self.arrays = network, arrays
        self.times: list[list[RunningTime]] = []
        for at, every in enumerate(choices):
            flows: dict[tuple[Algorithm, int, Ends], list[Dataflow]] = {}
            for way in every:
                flows.setdefault((way.algorithm, way.parts, way.planes), []).extend(way.dataflows)
            self.times.append(
                [
                    one
                    for (name, parts, planes), own in flows.items()
                    for one in running_times(network, at, name, own, arrays, parts, planes)
                ]
            )

    def vertex(self, at: int) -> Costs:
        """A layer's choices [S, choices], the pools after it, and its kernels where nothing hides them; without the
        last store, and product, where the next layer may hide those, and without what it may hide of a pool."""
        own = np.stack([time.own.total - self._left(at, time) - time.beside for time in self.times[at]], -1)
        own = own + pools_after(self.network, at, self.arrays)[:, np.newaxis]
        if at in self.network.running.ahead:
            return own
        return own + np.stack([waiting(self.network, at, time, None) for time in self.times[at]], -1)

    def waits(self) -> Iterator[tuple[tuple[int, ...], Costs]]:
        """Edges between layers that run one after another: what the kernels of the second take longer than the first
        leaves them, however long that is held up, and what its beginning does not hide of the first one's last store,
        [S, choices of the first, choices of the second]."""
        for at in sorted(self.network.running.ahead):
            rows = [
                np.stack(
                    [
                        self._left(at - 1, one) + time.beside + waiting(self.network, at, time, one, most)
                        for time in self.times[at]
                    ],
                    -1,
                )
                for one, most in zip(self.times[at - 1], self._most_held(at - 1), strict=True)
            ]
            yield (at - 1, at), np.stack(rows, 1)

    def ties(self) -> Iterator[tuple[tuple[int, ...], Costs]]:
        """Three layers one after another of which the first one's store holds the second up: what the kernels of the
        third take longer than in `waits`, [S, choices of the first, of the second, of the third]; never below 0."""
        for at in sorted(self.network.running.ahead):
            if not holds_up(self.network, at - 1):
                continue
            held = self._held(at - 1)
            most = _most(held)
            if not any(one.any() for one in most):
                continue
            more = [
                [
                    np.stack([self._more(at, time, one, own, most[k]) for time in self.times[at]], -1)
                    for k, (one, own) in enumerate(zip(self.times[at - 1], row, strict=True))
                ]
                for row in held
            ]
            found = np.stack([np.stack(row, 1) for row in more], 1)
            if found.any():
                yield (at - 2, at - 1, at), found

    def _more(self, at: int, time: RunningTime, before: RunningTime, held: Costs, most: Costs) -> Costs:
        """What a layer waits longer for its kernels where the one before is held up, but not the most."""
        return waiting(self.network, at, time, before, held) - waiting(self.network, at, time, before, most)

    def _held(self, at: int) -> list[list[Costs]]:
        """For how long layer ``at`` is held up, by choices of the layer before and its own."""
        return [
            [held_up(self.network, at, time, one) for time in self.times[at]] for one in self.times[at - 1]
        ]

    def _most_held(self, at: int) -> list[Costs]:
        """The most that layer ``at`` is held up under each of its choices."""
        if not holds_up(self.network, at):
            return [np.zeros_like(time.own.total) for time in self.times[at]]
        return _most(self._held(at))

    def _left(self, at: int, time: RunningTime) -> Costs | int:
        """Cycles of a layer that its edge to the next has."""
        engines = self.network.machine.engines
        if at + 1 not in self.network.running.overlapping or engines is None:
            return 0
        return time.own.store + time.own.ends if engines.inputs_ahead else time.own.store


def _most(held: Sequence[Sequence[Costs]]) -> list[Costs]:
    """The most that a layer is held up under each of its choices, whatever the one before is."""
    return [np.max(own, axis=0) for own in zip(*held, strict=True)]
