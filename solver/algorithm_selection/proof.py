"""Proofs of algorithm selections: boxes of array shapes, on none of which a selection is better than claimed.

A box is closed by the cost graph of its largest array, but with the I_SA of its smallest, which
`checkers/check_algorithm_selection.py` builds and eliminates by itself. Boxes end where passes become fewer: between
such sides they are those of the smallest array, which is the best one then, so that nothing is gained by smaller boxes.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from mapper.arch.overlay import SCALE, OverlayMachine
from mapper.formulations.algorithm_selection.problem import Pin, SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import CostGraph, GraphBuilder
from mapper.formulations.algorithm_selection.program.whole_cost import Costs
from mapper.models.algorithm_selection.cost import evaluate
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.resource import widest
from mapper.solver.algorithm_selection.exact.elimination import eliminate, elimination_order, least_bounds
from mapper.solver.method import Effort
from mapper.solver.proof import Claim, NotCertifiedError, Proof, number

OBJECTIVES = {
    "latency": "latency in cycles",
    "dsps": "DSP slices",
    "edp": "energy times latency in pJ cycles",
}
MOST_BOXES, MOST_LINES = 4096, 12
Box = tuple[int, int, int, int]
"""Least and most rows, least and most columns."""


def prove(problem: SelectionProblem, claim: Claim[Selection], effort: Effort) -> Proof:
    """The proof of a claim about ``problem``.

    Raises: NotCertifiedError with the reason if there is none.
    """
    builder, machine = GraphBuilder(problem), problem.machine
    mapping: dict[str, Any] | None = None
    value: Fraction | int | None = None
    bound: Fraction | int | None = None
    if builder.nothing_left is not None:
        nothing: dict[str, Any] = {"rule": "boxes", "mapping": None, "order": [], "boxes": []}
        return Proof(restated(problem), claim.status, None, None, nothing)
    unit, longest = machine.units_per_cycle, problem.longest_units
    fewer: int | None = None
    if claim.status == "infeasible":
        most, reached = problem.most_pes, (1 << 60 if longest is None else longest + 1)
    else:
        if claim.mapping is None or claim.value is None or claim.bound is None:
            raise NotCertifiedError("the claim has no selection or no bound")
        mapping = _mapping(problem, claim.mapping)
        fitting = builder.selection(claim.mapping.array, builder.chosen(claim.mapping)).on_chip
        if claim.mapping.on_chip != fitting:
            raise NotCertifiedError("some of what fits on the chip does not stay there")
        if problem.objective == "edp":
            value = evaluate(problem.network, claim.mapping).edp
            if float(value) != claim.value:
                raise NotCertifiedError(f"the selection's product is {float(value)}, not {claim.value}")
            # A bound in floating point is rounded: the double before it holds in any case.
            bound = value if claim.status == "optimal" else Fraction(math.nextafter(claim.bound, -math.inf))
            most, reached = problem.most_pes, math.ceil(bound * unit)
        else:
            value, bound = int(claim.value), int(claim.bound)
        if problem.objective == "latency":
            most, reached = problem.most_pes, (int(bound) - 1) * unit + 1
        elif problem.objective == "edp":
            pass
        else:
            assert longest is not None
            most, reached, fewer = problem.most_pes, longest + 1, int(bound) - 1
    search = _Boxes(problem, builder, most, reached, fewer)
    boxes = search.closed(effort)
    # The checker counts time in units of its own, as many to a cycle as words need: ours are parts of them.
    word = Fraction(machine.units_per_word, unit)
    parts = unit // (SCALE * word.denominator)
    return Proof(
        restated(problem),
        claim.status,
        value,
        bound,
        {
            "rule": "boxes",
            "mapping": mapping,
            "order": search.order() if boxes else [],
            "boxes": [[*box, *([a * parts, b] for a, b in search.weights.get(box, ()))] for box in boxes],
        },
    )


class _Boxes:
    """Shapes of up to ``most`` PEs, and of up to ``dsps`` DSP slices if given, on which no selection takes less than
    ``reached`` units."""

    def __init__(
        self, problem: SelectionProblem, builder: GraphBuilder, most: int, reached: int, dsps: int | None
    ) -> None:
        self.problem, self.builder, self.most, self.reached = problem, builder, most, reached
        self.dsps = dsps
        self.weights: dict[Box, list[list[int]]] = {}
        self.largest = (0, 0)
        self.plan: tuple[int, ...] = ()
        """The order in which vertices are eliminated."""
        # Lanes are more from a power of two on.
        lanes = {2**k + 1 for k in range(1, 16) if problem.machine.engines is not None}
        self.steps = [
            sorted({*_steps(sizes, most), *(one for one in lanes if one <= most)})
            for sizes in builder.spread()
        ]

    def order(self) -> list[int]:
        """The elimination order, vertices of stores by the position of the store."""
        layers = len(self.problem.network.layers)
        store = {vertex: layers + at for at, vertex in self.builder.vertex.items()}
        return [store.get(vertex, vertex) for vertex in self.plan]

    def closed(self, effort: Effort) -> list[Box]:
        if self.problem.array is not None:
            rows, columns = self.problem.array
            waiting = [(rows, rows, columns, columns)] if columns <= self._widest(rows) else []
        else:
            tallest = next((rows for rows in range(self.most, 0, -1) if self._widest(rows)), 0)
            waiting = [(1, tallest, 1, self._widest(1))] if tallest else []
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
        """What no selection on a box takes less than, in units or for products in units times picojoules."""
        sides = np.array(boxes, np.int64).T
        time = self.builder.graph(sides[1], sides[3], least=(sides[0], sides[2]))
        self.plan = self.plan or elimination_order(time)
        least: Costs = least_bounds(time)
        if self.problem.objective != "edp":
            if (least < self.reached).any():
                least = np.maximum(least, eliminate(time, self.plan)[0])
            found: list[int] = least.tolist()
            return found
        energy = self.builder.graph(sides[1], sides[3], "energy", least=(sides[0], sides[2]))
        self.largest = _largest(time), _largest(energy)
        times, energies = (eliminate(graph, self.plan)[0].tolist() for graph in (time, energy))
        return [
            self._product(box, at, time, energy, (times[at], energies[at])) for at, box in enumerate(boxes)
        ]

    def _product(self, box: Box, at: int, time: CostGraph, energy: CostGraph, least: tuple[int, int]) -> int:
        """The least product of one box; what is added beside the least latency and energy goes to ``weights``."""
        lines = [(1, 0, least[0]), (0, 1, least[1])]
        product, corner = _corner(lines)
        # Far from what is to be shown the parts of the box are looked at, if it has any.
        single = not (self._inside(0, *box[:2]) or self._inside(1, *box[2:]))
        for _ in range(MOST_LINES if single else 1):
            if product >= self.reached or (10 * product < 9 * self.reached and not single):
                break
            # Where the hyperbola through the corner has this slope; the lesser weight has bits enough for it.
            scale = max(min(corner), max(corner) / 2**36)
            a, b = (max(1, round(2**12 * part / scale)) for part in reversed(corner))
            line = (a, b, self._weighted(time, energy, at, a, b))
            if line in lines:
                break
            lines.append(line)
            product, corner = _corner(lines)
        self.weights[box] = [[a, b] for a, b, _ in lines[2:]]
        return math.floor(product)

    def _weighted(self, time: CostGraph, energy: CostGraph, at: int, a: int, b: int) -> int:
        # A network's costs are below 2^58 together, mostly far below; else whole numbers of any size.
        kind: Any = np.int64 if a * self.largest[0] + b * self.largest[1] < 1 << 62 else object

        graph = time.only(at).weighted(energy.only(at), a, b, kind)
        return int(eliminate(graph, self.plan)[0][0])

    def _inside(self, side: int, low: int, high: int) -> list[int]:
        """Where passes become fewer within a range of rows (side 0) or columns (side 1)."""
        steps = self.steps[side]
        return steps[bisect_right(steps, low) : bisect_right(steps, high)]

    def _widest(self, rows: int) -> int:
        return widest(rows, self.problem.machine, self.most, self.dsps)

    def _parts(self, box: Box) -> list[Box]:
        """Two parts of a box, without the arrays that are none."""
        low1, high1, low2, high2 = box
        inside = [self._inside(0, low1, high1), self._inside(1, low2, high2)]
        if not any(inside):
            # Passes are the same for all, and what grows with the array is that of the least: halves are told apart.
            if (low1, low2) == (high1, high2):
                raise NotCertifiedError(f"an array of {low1} x {low2} may be better than claimed")
            inside = [
                [(low + high + 1) // 2] if high > low else [] for low, high in ((low1, high1), (low2, high2))
            ]
        if inside[0] and (high1 * low2 >= high2 * low1 or not inside[1]):
            second = _nearest(inside[0], (low1 * high1) ** 0.5)
            parts = [(low1, second - 1, low2, high2), (second, high1, low2, high2)]
        else:
            second = _nearest(inside[1], (low2 * high2) ** 0.5)
            parts = [(low1, high1, low2, second - 1), (low1, high1, second, high2)]
        cut = []
        for one, other, left, right in parts:
            right = min(right, self._widest(one))
            while other > one and self._widest(other) < left:
                # The last rows that have arrays here.
                other = one + (other - one) // 2 if self._widest((one + other) // 2 + 1) < left else other - 1
            if right >= left:
                cut.append((one, other, left, right))
        return cut


def _steps(sizes: Iterable[int], most: int) -> list[int]:
    """The sides up to ``most`` with a ceil(size / side) that no smaller one has, of any of ``sizes``."""
    found: set[int] = set()
    for size in sizes:
        side = 1
        while side <= most and side < size:
            side = -(-size // (-(-size // side) - 1))
            found.add(side)
    return sorted(side for side in found if side <= most)


def _nearest(sides: Sequence[int], middle: float) -> int:
    return min(sides, key=lambda side: abs(side - 1 - middle))


def _largest(graph: CostGraph) -> int:
    """No selection costs more."""
    tables = [costs.max() for costs in graph.vertices] + [costs.max() for _, costs in graph.terms]
    return graph.constant + sum(map(int, tables))


def _corner(lines: list[tuple[int, int, int]]) -> tuple[Fraction, tuple[Fraction, Fraction]]:
    """The least product of two numbers that keep the sums of ``lines`` (weights and least sum), and the numbers."""
    found = []
    for (a, b, c), (d, e, f) in combinations(lines, 2):
        if a * e != b * d:
            x, y = Fraction(c * e - b * f, a * e - b * d), Fraction(a * f - c * d, a * e - b * d)
            if all(one * x + other * y >= least for one, other, least in lines):
                found.append((x * y, (x, y)))
    return min(found)


def _mapping(problem: SelectionProblem, selection: Selection) -> dict[str, Any]:
    """A selection as the checker reads it: what fits on the chip stays there."""
    network = problem.network
    return {
        "array": list(selection.array),
        "choices": [[one.algorithm, one.dataflow, one.parts] for one in selection.choices],
        "formats": [
            problem.labels(at).index(selection.stores[at])
            for at, store in enumerate(network.stores)
            if store.vertex
        ],
    }


def restated(problem: SelectionProblem) -> dict[str, Any]:
    """The problem as the checker reads it: the overlay's layers and tensors, and the machine's numbers."""
    longest = problem.longest_units
    limit = None if longest is None else number(Fraction(longest, problem.machine.units_per_cycle))
    posed = {
        "objective": OBJECTIVES[problem.objective],
        "longest": limit,
        "array": None if problem.array is None else list(problem.array),
        "machine": _machine(problem.machine, problem.most_pes),
        "layers": [_layer(problem, at) for at in range(len(problem.network.layers))],
        "stores": [_store(problem, at) for at in range(len(problem.network.stores))],
    }
    return posed if problem.machine.engines is None else posed | {"engines": _engines(problem)}


def _engines(problem: SelectionProblem) -> dict[str, Any]:
    """What counts where the generated overlay does: its numbers, and layers by position."""
    machine, network = problem.machine, problem.network
    assert machine.engines is not None
    running = network.running
    return machine.engines.model_dump() | {
        "pes": machine.pes,
        "board": None if machine.board is None else machine.board.model_dump(),
        "given": sorted(running.given),
        "ahead": sorted(running.ahead),
        "overlapping": sorted(running.overlapping),
        "beside": sorted(running.beside),
        "between": [list(one) for one in running.between],
        "resumed": [list(one) for one in running.resumed],
        "flattened": [list(one) for one in running.flattened],
        "direct": sorted(running.direct),
        "fully_connected": [at for at, layer in enumerate(network.layers) if layer.fully_connected],
        "pooled": [
            [at, *one.kernel, one.stride, *one.before, *one.size]
            for at, layer in enumerate(network.layers)
            if (one := layer.pooled) is not None
        ],
        "max_pools": [
            [pool.after, pool.pixels, pool.channels, pool.streams, pool.more, pool.last, pool.left]
            for pool in running.pools
        ],
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
        "energy_pj": {
            key: number(Fraction(repr(one))) for key, one in machine.energy_pj.model_dump().items()
        },
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
        "parts": None if pin.parts is None else sorted(pin.parts),
    }


def _store(problem: SelectionProblem, at: int) -> dict[str, Any]:
    store, label = problem.network.stores[at], problem.stores.get(problem.network.stores[at].name)
    return {
        "name": store.name,
        "images": store.images,
        "elements": store.elements,
        "shares": [
            [share.layer, share.channels, [list(vars(one).values()) for one in share.read]]
            for share in store.shares
        ],
        "readers": list(store.readers),
        "through": list(store.through),
        "plain": store.plain,
        "vertex": store.vertex,
        "whole": store.whole,
        "planes": store.planes,
        "given": None if label is None else problem.network.labels[at].index(label),
    }
