"""Mixed mode and Pareto fronts against every allocation of small random networks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.cost import AllocationCost, evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamNetwork
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.mixed.brute_force import every_mixed, mixed_brute_force
from mapper.solver.pe_allocation.mixed.catalogue import MIXED
from mapper.solver.pe_allocation.mixed.exact import search_mixed, with_kept_maps
from mapper.solver.pe_allocation.parallel.front import front
from tests.solver.pe_allocation.random_allocation import networks, problems, row

Vector = tuple[int, ...]
thorough = settings(
    derandomize=True, deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
brief = settings(thorough, max_examples=12)
buffers = st.one_of(st.none(), st.integers(1, 150))


def costs(problem: AllocationProblem, allocations: Iterable[Allocation]) -> Iterator[AllocationCost]:
    for allocation in allocations:
        verdict = verify(problem, allocation)
        if verdict.valid and verdict.cost is not None:
            yield verdict.cost


def undominated(vectors: set[Vector]) -> list[Vector]:
    """Those that no other is at most as large as."""
    return sorted(
        one
        for one in vectors
        if not any(all(a <= b for a, b in zip(other, one, strict=True)) for other in vectors - {one})
    )


def numbers(cost: AllocationCost) -> Vector:
    return cost.pes, cost.interval, cost.cycles


def front_numbers(problem: AllocationProblem, buffered: bool) -> list[Vector]:
    """What the points of the front cost, which the referee lets pass."""
    found = front(problem, Effort())
    assert found.complete and all(point.proven and point.mapping is not None for point in found.points)
    mappings = [point.mapping for point in found.points if point.mapping is not None]
    costed = list(costs(problem, mappings))
    assert len(costed) == len(mappings)
    assert [point.value for point in found.points] == [problem.value(cost) for cost in costed]
    return [(*numbers(cost), cost.buffer_bytes) if buffered else numbers(cost) for cost in costed]


@thorough
@given(problems("calculus", 4, pins=True), buffers)
def test_mixed_mode_finds_the_best_of_all_ways_to_cut(problem: AllocationProblem, room: int | None) -> None:
    problem = replace(problem, mode="mixed", max_bytes=room)
    best, found = mixed_brute_force(problem, Effort()), search_mixed(problem, Effort())
    assert best.proven and found.proven
    assert (found.value, found.bound) == (best.value, best.bound)
    if best.mapping is not None and found.mapping is not None:
        (one,), (other,) = costs(problem, [best.mapping]), costs(problem, [found.mapping])
        assert problem.rank(one) == problem.rank(other)
        assert one.traffic_words <= other.traffic_words


@brief
@given(problems("calculus", 4, pins=True), buffers)
def test_every_method_agrees_on_mixed_mode(problem: AllocationProblem, room: int | None) -> None:
    problem = replace(problem, mode="mixed", max_bytes=room)
    best = mixed_brute_force(problem, Effort())
    sign = -1 if problem.objective == "throughput" else 1
    for name in ("auto", "ilp", "cp-sat"):
        found = MIXED[name](problem, Effort())
        assert (found.value, found.bound, found.proven) == (best.value, best.bound, True), name
        if best.mapping is not None and found.mapping is not None:
            (one,), (other,) = costs(problem, [best.mapping]), costs(problem, [found.mapping])
            assert problem.rank(one) == problem.rank(other), name
            assert name != "ilp" or one.traffic_words == other.traffic_words
    for name in ("greedy", "proportional"):
        found = MIXED[name](problem, Effort())
        if found.mapping is not None and found.value is not None and found.bound is not None:
            assert best.value is not None and sign * found.bound <= sign * best.value <= sign * found.value
            assert len(list(costs(problem, [found.mapping]))) == 1


@thorough
@given(networks(5), st.sets(st.integers(1, 4)), st.integers(0, 120))
def test_maps_stay_on_the_chip_where_that_saves_most_traffic(
    network: StreamNetwork, cuts: set[int], room: int
) -> None:
    count = len(network.layers)
    starts = (0, *(cut for cut in sorted(cuts) if cut < count))
    base = Allocation("mixed", (1,) * count, (0,) * count, (1,) * count, segments=starts)
    problem = AllocationProblem(network, row(1), mode="mixed", max_bytes=room)
    every = [replace(base, on_chip=stays) for stays in product((False, True), repeat=len(starts) - 1)]
    costed = [evaluate(network, problem.machine, one, "calculus") for one in every]
    found = evaluate(network, problem.machine, with_kept_maps(problem, every[0], room), "calculus")
    fitting = [cost.traffic_words for cost in costed if cost.buffer_bytes <= room]
    if fitting:
        assert found.buffer_bytes <= room and found.traffic_words == min(fitting)


@thorough
@given(problems("calculus", 4), st.sets(st.integers(1, 3)))
def test_given_runs_are_kept(problem: AllocationProblem, cuts: set[int]) -> None:
    starts = (0, *(cut for cut in sorted(cuts) if cut < len(problem.network.layers)))
    problem = replace(problem, mode="mixed", segments=starts)
    best, found = mixed_brute_force(problem, Effort()), search_mixed(problem, Effort())
    assert (found.value, found.proven) == (best.value, True)
    assert found.mapping is None or found.mapping.segments == starts


@thorough
@given(problems("calculus", 4, pins=True), buffers)
def test_the_front_of_mixed_mode_is_all_there_is(problem: AllocationProblem, room: int | None) -> None:
    problem = replace(problem, mode="mixed", max_bytes=room)
    every = {(*numbers(cost), cost.buffer_bytes) for cost in costs(problem, every_mixed(problem))}
    assert front_numbers(problem, True) == undominated(every)


@thorough
@given(problems("calculus", 5, pins=True))
def test_the_front_of_layers_in_parallel_is_all_there_is(problem: AllocationProblem) -> None:
    fused = replace(problem, mode="mixed", segments=(0,))
    every = {numbers(cost) for cost in costs(fused, every_mixed(fused))}
    assert front_numbers(problem, False) == undominated(every)


@thorough
@given(problems("calculus", 3))
def test_the_front_of_layers_one_after_another_is_all_there_is(problem: AllocationProblem) -> None:
    problem = replace(problem, mode="layer-by-layer")
    layers = problem.network.layers
    idle, delta = (0,) * len(layers), tuple(problem.units(layer) for layer in layers)
    sizes = product(range(1, problem.most_pes + 1), repeat=len(layers))
    every = (Allocation("layer-by-layer", p, idle, delta) for p in sizes)
    assert front_numbers(problem, False) == undominated({numbers(cost) for cost in costs(problem, every)})


@settings(thorough, max_examples=8)
@given(problems("calculus", 3, sharing=True))
def test_fronts_with_shared_pes_hold_those_without(problem: AllocationProblem) -> None:
    alone = front_numbers(replace(problem, sharing=False), False)
    together = front_numbers(problem, False)
    assert undominated({*alone, *together}) == together


@settings(thorough, max_examples=5)
@given(problems("streaming", 2), st.integers(4, 16))
def test_the_front_of_the_streaming_model_is_all_there_is(problem: AllocationProblem, longest: int) -> None:
    problem = replace(problem, longest_interval=longest)
    layers = problem.network.layers
    delta = tuple(problem.units(layer) for layer in layers)
    sizes = product(range(1, problem.most_pes + 1), repeat=len(layers))
    idle = list(product(*(range(longest // layer.positions) for layer in layers)))
    every = (Allocation("layer-parallel", p, waits, delta) for p in sizes for waits in idle)
    assert front_numbers(problem, False) == undominated({numbers(cost) for cost in costs(problem, every)})


@pytest.mark.parametrize("mode", ["layer-parallel", "mixed"])
@given(problem=problems("calculus", 3))
@settings(thorough, max_examples=10)
def test_a_front_without_time_is_incomplete(mode: str, problem: AllocationProblem) -> None:
    problem = replace(problem, mode=mode)  # type: ignore[arg-type]
    found = front(problem, Effort(deadline=0.0))
    assert not found.complete and not any(point.proven for point in found.points)
