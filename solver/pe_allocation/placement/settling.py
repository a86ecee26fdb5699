"""What becomes of an allocation that finds no place on the array: it is slowed down until its streams find ways.

Idle cycles make every stream thinner, so that a slow enough allocation is placed wherever there are enough buffers.
What the allocation was worth without the limits of links and border PEs stays a bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from mapper.formulations.objective import THROUGHPUT
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.reach import least_interval_over_links
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.parallel.outcome import chosen_in
from mapper.solver.pe_allocation.placement.place import connected, has_place, standing

SLOWER = ("1", "17/16", "9/8", "5/4", "11/8", "3/2", "7/4", "2", "5/2", "3", "4", "6", "8", "16", "64", "256")
"""How many times longer positions take, in the order in which that is tried."""
NOWHERE = (
    "no placement was found within the limits of links and border PEs; unpin decisions, ask for less, or raise "
    "link_words, border.buffers or border.address_generators"
)
SLOWED = "an allocation whose streams find no ways was slowed down; others were not tried"


def settled(problem: AllocationProblem, found: Outcome[Allocation], effort: Effort) -> Outcome[Allocation]:
    """``found``, whose allocation was not placed, with one that is, slowed down as little as was tried; proven if that
    costs nothing. Without an allocation if none is placed: whether there is one stays open, and the bound holds."""
    stop = effort.stopped() or ("heuristic" if found.stop == "complete" else found.stop)
    bound = _bound(problem, found.bound)
    unknown = Outcome[Allocation].bounded(
        None,
        None,
        bound,
        stop,
        restrictions=(NOWHERE,),
        evaluations=found.evaluations,
        method=found.method,
    )
    if found.mapping is None or problem.mode == "layer-by-layer" or not problem.machine.has_limits:
        return unknown
    stands = None
    for allocation in _slower(problem, found.mapping):
        if effort.stopped() is not None:
            break
        if not verify(problem, allocation).valid or not has_place(problem, allocation):
            continue
        stands = stands or standing(problem, allocation)
        at_rest = connected(problem, allocation, stands)
        if at_rest.placement is None:
            continue
        value = problem.value(evaluate(problem.network, problem.machine, allocation, problem.model))
        proven = value == bound
        said = () if proven else tuple(dict.fromkeys((*found.restrictions, SLOWED)))
        return replace(
            found,
            mapping=at_rest,
            value=value,
            bound=bound,
            proven=proven,
            stop="complete" if proven else stop,
            restrictions=said,
        )
    return unknown


def _bound(problem: AllocationProblem, bound: int | float | None) -> int | float | None:
    """The bound of an allocation without a place, or that of the links if it is tighter."""
    interval = least_interval_over_links(problem)
    if problem.goal != THROUGHPUT or interval == 0:
        return bound
    carried = problem.machine.clock_hz / interval
    return carried if bound is None else min(bound, carried)


def _slower(problem: AllocationProblem, allocation: Allocation) -> Iterator[Allocation]:
    """``allocation`` with the same PEs and units at longer paces, first those alone that no link carries."""
    layers = problem.network.layers
    work = [choice.cycles for choice in chosen_in(allocation, problem)]
    now = [cycles + idle for cycles, idle in zip(work, allocation.throttle, strict=True)]
    words = problem.machine.link_words
    for text in SLOWER:
        factor, paced = Fraction(text), []
        for layer, pace in zip(layers, now, strict=True):
            if problem.pin(layer).throttle is not None:
                paced.append(pace)
                continue
            read = sum(problem.network.layers[feed].maps for feed in layer.feeds) or layer.channels
            least = 0 if words is None else -(-max(layer.maps, read * layer.window) // words)
            longer = max(pace, least) * factor
            paced.append(-(-longer.numerator // longer.denominator))
        for kept in _matched(problem, allocation, paced):
            yield replace(
                allocation,
                throttle=tuple(pace - cycles for pace, cycles in zip(kept, work, strict=True)),
                placement=None,
                unplaceable=False,
            )


def _matched(problem: AllocationProblem, allocation: Allocation, paced: list[int]) -> Iterator[list[int]]:
    """Paces at which no layer works faster than its pixels come (Eq. 9), where that is asked for."""
    if problem.model == "streaming":
        yield paced
        return
    kept = list(paced)
    for members in allocation.parts():
        for at in members:
            layer = problem.network.layers[at]
            inner = [kept[feed] for feed in layer.feeds if feed in members]
            kept[at] = max([kept[at], *(layer.new_pixels * pace for pace in inner)])
    yield kept
