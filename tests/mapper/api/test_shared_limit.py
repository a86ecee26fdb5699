"""A limit on latency that layers share: the least of all together, against trying every mapping of every layer."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import Any

import pytest

import mapper
from mapper.api.part.shared_limit import solve_within
from mapper.api.problem import PosedProblem, posed
from mapper.api.solution import Solution
from mapper.api.verb import evaluated
from mapper.kind.hierarchy.kind import HIERARCHY
from mapper.kind.part import Options, Workload
from mapper.kind.tiling.kind import TILING
from mapper.proving.proof_document import certify
from mapper.solver.hierarchy.front import front
from mapper.solver.method import Effort
from mapper.workloads.document import InputError
from mapper.workloads.network.network import Layer, Network
from tests.checkers.tiling.claim import every_bound
from tests.solver.hierarchy.random_hierarchy import random_machine
from tests.solver.tiling.oracle import mappings
from tests.solver.tiling.small import matrix_product, small_machine

Row = tuple[int, ...]


def network(
    shapes: list[tuple[int, int, int]], machine: Any, objective: str, cycles: int, padding: str = "off"
) -> PosedProblem:
    """Matrix products as a network that may take so many ``cycles``."""
    layers = tuple(
        Layer(f"gemm{n}", f"gemm{n}", "Gemm", matrix_product(*shape)) for n, shape in enumerate(shapes, 1)
    )
    read = Workload(Network("small", layers), ())
    limit = (cycles + 0.5) / (machine.clock_mhz * 1000)
    kind = TILING if machine == small_machine() else HIERARCHY
    fix = {"padding": padding} if kind is TILING else {}
    return posed(
        kind, "small", "small machine", objective, Options(max_latency=limit, fix=fix), read, machine
    )


def solved(problem: PosedProblem) -> Solution:
    return solve_within(problem, mapper.Search(workers=1))


def rows_of(problem: PosedProblem) -> list[list[Row]]:
    """Energy and cycles of every mapping of every layer, those alone that no other beats."""
    found = []
    for part in problem.parts:
        own = replace(part.problem, max_cycles=None)
        every = (one for bounds in every_bound(own) for one in mappings(bounds.as_it_is()))
        rows = {TILING.criteria(own, one.over(own.nest.trip_counts)) for one in every}
        found.append(
            [row for row in rows if not any(o != row and o[0] <= row[0] and o[1] <= row[1] for o in rows)]
        )
    return found


def least(rows: list[list[Row]], objective: str, cycles: int) -> int | None:
    values = {"edp": lambda e, c: e * c, "energy": lambda e, c: e, "latency": lambda e, c: c}
    sums = [
        (sum(values[objective](*row) for row in chosen), sum(row[1] for row in chosen))
        for chosen in itertools.product(*rows)
    ]
    return min((value for value, taken in sums if taken <= cycles), default=None)


@pytest.mark.parametrize("padding", ["off", "auto"])
@pytest.mark.parametrize("objective", ["energy", "edp", "latency"])
def test_layers_share_a_limit_as_the_best_of_all_mappings_do(objective: str, padding: str) -> None:
    draw = random.Random(objective + padding)
    shapes = [(draw.choice((2, 3)), draw.choice((1, 2)), draw.choice((2, 3))) for _ in range(2)]
    shapes.append(shapes[0])
    machine = small_machine()
    rows = rows_of(network(shapes, machine, objective, 10**6, padding))
    fewest, most = (sum(edge(row[1] for row in one) for one in rows) for edge in (min, max))
    for cycles in {fewest, (fewest + most) // 2, (2 * fewest + most) // 3, most}:
        found = solved(network(shapes, machine, objective, cycles, padding))
        assert found.certificate.proven and found.certificate.verified
        assert found.cost is not None and found.cost["cycles"] <= cycles
        assert found.certificate.value == found.certificate.bound == least(rows, objective, cycles)
    nothing = solved(network(shapes, machine, objective, fewest - 1, padding))
    assert (nothing.exit_code, nothing.certificate.proven) == (1, True)
    assert f"{fewest:,} cycles at least" in str(nothing.reason)


@pytest.mark.parametrize("seed", range(3))
def test_layers_on_a_memory_hierarchy_share_a_limit(seed: int) -> None:
    draw = random.Random(seed)
    machine = random_machine(draw).model_copy(update={"clock_mhz": 500.0})
    shapes = [(draw.choice((2, 4)), draw.choice((1, 2)), draw.choice((2, 3))) for _ in range(2)]
    free = network(shapes, machine, "energy", 10**9)
    fronts = [front(replace(part.problem, max_cycles=None), Effort()) for part in free.parts]
    assert all(one.complete for one in fronts)
    rows = [
        [
            (HIERARCHY.criteria(part.problem, point.mapping))
            for point in one.points
            if point.mapping is not None
        ]
        for part, one in zip(free.parts, fronts, strict=True)
    ]
    if not all(rows):
        return
    fewest, most = (sum(edge(row[1] for row in one) for one in rows) for edge in (min, max))
    for cycles in {fewest, (fewest + most) // 2}:
        found = solved(network(shapes, machine, "energy", cycles))
        assert found.certificate.proven and found.cost is not None and found.cost["cycles"] <= cycles
        taken = [
            HIERARCHY.criteria(part.problem, HIERARCHY.read_mapping(one.mapping.to_json(), part.problem, ""))
            for part, one in zip(free.parts, found.parts, strict=True)
            if one.mapping is not None
        ]
        assert sum(row[0] for row in taken) == least(rows, "energy", cycles)


def test_repeats_name_their_first_only_where_they_are_mapped_alike() -> None:
    machine, shapes = small_machine(), [(2, 2, 3)] * 3
    rows = rows_of(network(shapes, machine, "energy", 10**6))
    fewest, most = (sum(edge(row[1] for row in one) for one in rows) for edge in (min, max))
    kinds = set()
    for cycles in range(fewest, most + 1, max(1, (most - fewest) // 12)):
        found = solved(network(shapes, machine, "energy", cycles))
        first = found.parts[0]
        for part in found.parts[1:]:
            alike = part.mapping == first.mapping
            kinds.add(alike)
            assert (part.same_as == "gemm1") == alike
    assert kinds == {True, False}


def test_a_network_that_takes_too_long_is_rejected_although_each_layer_keeps_the_limit() -> None:
    machine, shapes = small_machine(), [(2, 2, 3)] * 2
    fast = solved(network(shapes, machine, "latency", 10**6))
    assert fast.cost is not None
    short = network(shapes, machine, "latency", fast.cost["cycles"] - 1)
    judged = evaluated(short, fast.to_json())
    assert not judged.certificate.verified and judged.exit_code == 1
    assert [rule.place for rule in judged.certificate.broken] == ["cycles of all layers"]


def test_no_layer_is_certified_as_if_the_limit_were_its_own() -> None:
    found = solved(network([(2, 2, 3)] * 2, small_machine(), "energy", 10**6))
    assert {proof["evidence"]["rule"] for proof in certify(found)} == {"none"}


def test_methods_that_search_layers_one_by_one_are_refused() -> None:
    problem = network([(2, 2, 3)] * 2, small_machine(), "energy", 10**6)
    with pytest.raises(InputError, match="share --max-latency"):
        solve_within(problem, mapper.Search(method="annealing"))


def test_time_that_runs_out_leaves_a_bound_and_no_claim() -> None:
    problem = network([(4, 2, 4), (4, 4, 2)], small_machine(), "energy", 10**6)
    found = solve_within(problem, mapper.Search(workers=1, time_limit=0))
    assert not found.certificate.proven
