"""What the overlay as it is generated adds to the cost graph: layers whose engines overlap, kernels that wait, and
stores that hold the next layer up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mapper.formulations.algorithm_selection.program.network_choice import Way
from mapper.models.algorithm_selection.choice import Algorithm, Dataflow
from mapper.models.algorithm_selection.layer_time import Arrays, LayerTime
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
    """Cycles for S arrays; ``choices`` are the ways of every layer, dataflows one after another. ``times``: of every
    layer under all its choices, [S, choices]."""

    def __init__(
        self,
        network: OverlayNetwork,
        choices: Iterable[Sequence[Way]],
        arrays: Arrays,
    ) -> None:
        self.network, self.arrays = network, arrays
        self.times: list[RunningTime] = []
        for at, every in enumerate(choices):
            flows: dict[tuple[Algorithm, int, Ends], list[Dataflow]] = {}
            for way in every:
                flows.setdefault((way.algorithm, way.parts, way.planes), []).extend(way.dataflows)
            found = [
                one
                for (name, parts, planes), own in flows.items()
                for one in running_times(network, at, name, own, arrays, parts, planes)
            ]
            self.times.append(_together(found, len(arrays.rows)))

    def vertex(self, at: int) -> Costs:
        """A layer's choices [S, choices], the pools after it, and its kernels where nothing hides them; without the
        last store, and product, where the next layer may hide those, and without what it may hide of a pool."""
        time = self.times[at]
        own = time.own.total - self._left(at, time) - time.beside
        own = own + pools_after(self.network, at, self.arrays)[:, np.newaxis]
        return own if at in self.network.running.ahead else own + waiting(self.network, at, time, None)

    def waits(self) -> Iterator[tuple[tuple[int, ...], Costs]]:
        """Edges between layers that run one after another: what the kernels of the second take longer than the first
        leaves them, however long that is held up, and what its beginning does not hide of the first one's last store,
        [S, choices of the first, choices of the second]."""
        for at in sorted(self.network.running.ahead):
            first, second = _along(self.times[at - 1], 0, 2), _along(self.times[at], 1, 2)
            most = self._held(at - 1).max(1)[..., np.newaxis] if holds_up(self.network, at - 1) else 0
            wait = waiting(self.network, at, second, first, most)
            yield (at - 1, at), self._left(at - 1, first) + second.beside + wait

    def ties(self) -> Iterator[tuple[tuple[int, ...], Costs]]:
        """Three layers one after another of which the first one's store holds the second up: what the kernels of the
        third take longer than in `waits`, [S, choices of the first, of the second, of the third]; never below 0."""
        for at in sorted(self.network.running.ahead):
            if not holds_up(self.network, at - 1):
                continue
            held = self._held(at - 1)
            most = held.max(1)
            if not most.any():
                continue
            second, third = _along(self.times[at - 1], 0, 2), _along(self.times[at], 1, 2)
            usual = waiting(self.network, at, third, second, most[..., np.newaxis])
            # One choice of the first layer at a time, for what all of them at once would take beside the result.
            found = np.empty((*held.shape, usual.shape[-1]), np.int64)
            for first in range(held.shape[1]):
                own = held[:, first, :, np.newaxis]
                found[:, first] = waiting(self.network, at, third, second, own) - usual
            if found.any():
                yield (at - 2, at - 1, at), found

    def _held(self, at: int) -> Costs:
        """For how long layer ``at`` is held up, [S, choices of the layer before, its own]."""
        before, time = _along(self.times[at - 1], 0, 2), _along(self.times[at], 1, 2)
        held = held_up(self.network, at, time, before)
        return np.broadcast_to(held, (len(held), before.own.total.shape[1], held.shape[-1]))

    def _left(self, at: int, time: RunningTime) -> Costs | int:
        """Cycles of a layer that its edge to the next has."""
        engines = self.network.machine.engines
        if at + 1 not in self.network.running.overlapping or engines is None:
            return 0
        return time.own.store + time.own.ends if engines.inputs_ahead else time.own.store


def _together(every: Sequence[RunningTime], arrays: int) -> RunningTime:
    """A layer under all its choices [S, choices]."""
    own = LayerTime(
        *(np.stack(one, -1) for one in zip(*(vars(time.own).values() for time in every), strict=True))
    )

    def of(name: str) -> Costs:
        return np.stack([np.broadcast_to(getattr(time, name), arrays) for time in every], -1)

    reading, once = (np.array([getattr(time, name) for time in every]) for name in ("reading", "once"))
    hides = np.array([time.hides for time in every], np.int64)
    return RunningTime(own, of("kernels"), of("beside"), of("shared"), reading, once, hides, of("alone"))


def _along(time: RunningTime, axis: int, axes: int) -> RunningTime:
    """A layer whose choices lie along one axis of so many that choices of several layers have."""

    def along(one: NDArray[Any]) -> NDArray[Any]:
        return one.reshape(*one.shape[:-1], *(one.shape[-1] if at == axis else 1 for at in range(axes)))

    own, *rest = vars(time).values()
    return RunningTime(LayerTime(*map(along, vars(own).values())), *map(along, map(np.asarray, rest)))
