"""Proofs of algorithm selections: boxes of array shapes, on none of which a selection is better than claimed.

A box is closed by the cost graph of its largest array, but with the I_SA of its smallest, which
`checkers/check_algorithm_selection.py` builds and eliminates by itself.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from mapper.arch.overlay import OverlayMachine
from mapper.formulations.algorithm_selection.problem import Pin, SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import Costs, GraphBuilder
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.overlay.network import Store
from mapper.solver.algorithm_selection.exact.elimination import eliminate, elimination_order, least_bounds
from mapper.solver.method import Effort
from mapper.solver.proof import Claim, NotCertifiedError, Proof, number

OBJECTIVES = {"latency": "latency in cycles", "dsps": "DSP slices"}
MOST_BOXES = 4096
Box = tuple[int, int, int, int]
"""Least and most rows, least and most columns."""


def prove(problem: SelectionProblem, claim: Claim[Selection], effort: Effort) -> Proof:
    """The proof of a claim about ``problem``.

    Raises: NotCertifiedError with the reason if there is none.
    """
    if problem.objective not in OBJECTIVES:
        raise NotCertifiedError("there is no evidence for products of energy and latency yet")
    if problem.stores:
        raise NotCertifiedError("there is no evidence for problems with given formats of tensors")
    builder, machine = GraphBuilder(problem), problem.machine
    if builder.nothing_left is not None:
        raise NotCertifiedError(f"{builder.nothing_left} has no choice left, which needs no array to be seen")
    mapping, value, bound = None, None, None
    unit, longest = machine.units_per_cycle, problem.longest_units
    if claim.status == "infeasible":
        if longest is None:
            raise NotCertifiedError("the problem allows no array, which needs no evidence")
        most, reached = problem.most_pes, longest + 1
    else:
        if claim.mapping is None or claim.value is None or claim.bound is None:
            raise NotCertifiedError("the claim has no selection or no bound")
        mapping = _mapping(problem, claim.mapping)
        value, bound = int(claim.value), int(claim.bound)
        if problem.objective == "latency":
            most, reached = problem.most_pes, (bound - 1) * unit + 1
        else:
            assert longest is not None
            rule = machine.resource
            fewer = -(-(bound - rule.other_dsps) // rule.dsps_per_pe) - 1
            most, reached = min(problem.most_pes, fewer), longest + 1
    search = _Boxes(problem, builder, most, reached)
    boxes = search.closed(effort)
    return Proof(
        restated(problem),
        claim.status,
        value,
        bound,
        {"rule": "boxes", "mapping": mapping, "order": search.order(), "boxes": [list(box) for box in boxes]},
    )


class _Boxes:
    """Shapes of up to ``most`` PEs on which no selection takes less than ``reached`` units."""

    def __init__(self, problem: SelectionProblem, builder: GraphBuilder, most: int, reached: int) -> None:
        self.problem, self.builder, self.most, self.reached = problem, builder, most, reached
        self.plan = elimination_order(builder.graph(np.array([1]), np.array([1])))

    def order(self) -> list[int]:
        """The elimination order, vertices of stores by the position of the store."""
        layers = len(self.problem.network.layers)
        store = {vertex: layers + at for at, vertex in self.builder.vertex.items()}
        return [store.get(vertex, vertex) for vertex in self.plan]

    def closed(self, effort: Effort) -> list[Box]:
        if self.problem.array is not None:
            rows, columns = self.problem.array
            waiting = [(rows, rows, columns, columns)] if rows * columns <= self.most else []
        else:
            waiting = [(1, self.most, 1, self.most)] if self.most > 0 else []
        found: list[Box] = []
        while waiting:
            if effort.stopped() is not None:
                raise NotCertifiedError("the time was over before all shapes were covered")
            least = self._least(waiting)
            again: list[Box] = []
            for box, units in zip(waiting, least, strict=True):
                if units >= self.reached:
                    found.append(box)
                else:
                    again += self._parts(box)
            waiting = again
            if len(found) + len(waiting) > MOST_BOXES:
                raise NotCertifiedError(f"more than {MOST_BOXES} boxes of shapes")
        return sorted(found)

    def _least(self, boxes: list[Box]) -> list[int]:
        sides = np.array(boxes, np.int64).T
        graph = self.builder.graph(sides[1], sides[3], larger=np.maximum(sides[0], sides[2]))
        least: Costs = least_bounds(graph)
        if (least < self.reached).any():
            least = np.maximum(least, eliminate(graph, self.plan)[0])
        found: list[int] = least.tolist()
        return found

    def _widest(self, rows: int) -> int:
        rule, columns = self.problem.machine.resource, self.most // rows
        room = rule.brams // rule.brams_per_bank
        if rule.limits_shapes:
            columns = min(columns, (room - rows) // 3 if room >= 4 * rows else min(rows, room - 3 * rows))
        return max(0, columns)

    def _parts(self, box: Box) -> list[Box]:
        """Two parts of a box, without the arrays that are none."""
        low1, high1, low2, high2 = box
        if (low1, low2) == (high1, high2):
            raise NotCertifiedError(f"an array of {low1} x {low2} may be better than claimed")
        if high1 - low1 > 0 and (high1 * low2 >= high2 * low1 or high2 == low2):
            middle = max(low1, min(high1 - 1, int((low1 * high1) ** 0.5)))
            parts = [(low1, middle, low2, high2), (middle + 1, high1, low2, high2)]
        else:
            middle = max(low2, min(high2 - 1, int((low2 * high2) ** 0.5)))
            parts = [(low1, high1, low2, middle), (low1, high1, middle + 1, high2)]
        cut = []
        for one, other, left, right in parts:
            right = min(right, self._widest(one))
            while other > one and self._widest(other) < left:
                # The last rows that have arrays here.
                other = one + (other - one) // 2 if self._widest((one + other) // 2 + 1) < left else other - 1
            if right >= left:
                cut.append((one, other, left, right))
        return cut


def _mapping(problem: SelectionProblem, selection: Selection) -> dict[str, Any]:
    """A selection as the checker reads it: what fits on the chip stays there."""
    network = problem.network
    return {
        "array": list(selection.array),
        "choices": [[one.algorithm, one.dataflow] for one in selection.choices],
        "formats": [
            network.labels[at].index(selection.stores[at])
            for at, store in enumerate(network.stores)
            if store.vertex
        ],
    }


def restated(problem: SelectionProblem) -> dict[str, Any]:
    """The problem as the checker reads it: the overlay's layers and tensors, and the machine's numbers."""
    longest = problem.longest_units
    limit = None if longest is None else number(Fraction(longest, problem.machine.units_per_cycle))
    return {
        "objective": OBJECTIVES[problem.objective],
        "longest": limit,
        "array": None if problem.array is None else list(problem.array),
        "machine": _machine(problem.machine, problem.most_pes),
        "layers": [_layer(problem, at) for at in range(len(problem.network.layers))],
        "stores": [_store(one) for one in problem.network.stores],
    }


def _machine(machine: OverlayMachine, pes: int) -> dict[str, Any]:
    bandwidth = machine.bandwidth_gb_s
    resource = machine.resource.model_dump(include={"dsps_per_pe", "other_dsps", "brams_per_bank", "brams"})
    return {
        "pes": pes,
        "clock_hz": machine.clock_hz,
        "word_bytes": machine.word_bytes,
        "bytes_per_s": None if bandwidth is None else round(bandwidth * 1000) * 10**6,
        "winograd": machine.winograd.model_dump(),
        "initialisation": machine.initialisation.model_dump(),
        "traffic": machine.traffic.model_dump(),
        "resource": resource | {"limits_shapes": machine.resource.limits_shapes},
    }


def _layer(problem: SelectionProblem, at: int) -> dict[str, Any]:
    layer = problem.network.layers[at]
    pin = problem.pins.get(layer.name, Pin())
    return {
        "name": layer.name,
        "images": layer.images,
        "in_channels": layer.in_channels,
        "out_channels": layer.out_channels,
        "map": list(layer.map),
        "output": list(layer.output),
        "kernel": list(layer.kernel),
        "strides": list(layer.strides),
        "dilations": list(layer.dilations),
        "pads": [list(pad) for pad in layer.pads],
        "groups": layer.groups,
        "per_channel": layer.per_channel,
        "algorithms": None if pin.algorithms is None else sorted(pin.algorithms),
        "dataflows": None if pin.dataflows is None else sorted(pin.dataflows),
    }


def _store(store: Store) -> dict[str, Any]:
    return {
        "name": store.name,
        "images": store.images,
        "elements": store.elements,
        "shares": [[share.layer, share.channels, share.loaded] for share in store.shares],
        "readers": list(store.readers),
        "through": list(store.through),
        "plain": store.plain,
        "vertex": store.vertex,
        "whole": store.whole,
    }
