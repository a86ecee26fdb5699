"""Fronts of the paper's example against the numbers that are known of it."""

from __future__ import annotations

from typing import Any

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.problem import AllocationProblem, Pin
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.cost import AllocationCost
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import stream_network
from mapper.solver.front import Front
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.parallel.front import front
from mapper.workloads.source import load_layers

STEPS = [
    (5, 98.4), (6, 196.8), (7, 295.3), (9, 393.7), (10, 472.4), (11, 590.5), (15, 787.4), (19, 885.8), (20, 1181.0)
]  # fmt: skip
"""PEs and frames per second at which the throughput rises (reference of the calculus)."""


def example(array: str = "tcpa-4x4", **fields: Any) -> AllocationProblem:
    document = tcpa_preset(array)
    assert document is not None
    network = stream_network(load_layers("mnist-tcpa", None))
    return AllocationProblem(network, tcpa_from_document(document, array), **fields)


def costs(problem: AllocationProblem, found: Front[Allocation]) -> list[AllocationCost]:
    costed = []
    for point in found.points:
        assert point.mapping is not None
        verdict = verify(problem, point.mapping)
        assert verdict.valid and verdict.cost is not None
        costed.append(verdict.cost)
    return costed


def test_throughput_rises_in_the_known_steps() -> None:
    problem = example("tcpa-4x5")
    found = front(problem, Effort())
    assert found.complete
    steps: list[tuple[int, float]] = []
    for cost in costs(problem, found):
        if not steps or round(float(cost.throughput), 1) > steps[-1][1]:
            steps.append((cost.pes, round(float(cost.throughput), 1)))
    assert steps == STEPS


def test_fifteen_pes_reach_what_sixteen_do_at_a_longer_latency() -> None:
    problem = example()
    last = costs(problem, front(problem, Effort()))[-2:]
    assert [(cost.pes, cost.interval, cost.cycles) for cost in last] == [
        (15, 63_504, 66_672),
        (16, 63_504, 66_528),
    ]


def test_points_ascend_by_pes_and_carry_no_placement() -> None:
    problem = example(mode="mixed")
    found = front(problem, Effort())
    keys = [(cost.pes, cost.interval, cost.cycles, cost.buffer_bytes) for cost in costs(problem, found)]
    assert keys == sorted(set(keys)) and len(keys) == 22
    assert all(point.mapping is not None and point.mapping.placement is None for point in found.points)


def test_limits_and_pins_hold_for_every_point() -> None:
    problem = example(
        mode="mixed", max_pes=12, max_bytes=6_000, longest_interval=200_000, pins={"conv2": Pin(pes=5)}
    )
    found = front(problem, Effort())
    assert found.complete and found.points
    assert all(point.mapping is not None and point.mapping.pes[2] == 5 for point in found.points)
    assert all(cost.pes <= 12 and cost.interval <= 200_000 for cost in costs(problem, found))


def test_a_problem_without_answers_has_an_empty_front_that_is_complete() -> None:
    found = front(example("tcpa-2x2"), Effort())
    assert found.points == () and found.complete


def test_a_front_that_is_cut_shows_a_greedy_path_unproven() -> None:
    problem = example()
    found = front(problem, Effort(deadline=0.0))
    assert not found.complete and all(not point.proven and point.bound is None for point in found.points)
    assert min(cost.interval for cost in costs(problem, found)) == 63_504


def test_the_streaming_model_starts_later_at_the_same_throughput() -> None:
    problem = example(model="streaming", max_pes=7)
    found = front(problem, Effort())
    assert found.complete
    numbers = [(cost.pes, cost.interval, cost.cycles) for cost in costs(problem, found)]
    assert numbers == [(5, 508_032, 545_633), (6, 254_016, 291_617), (7, 169_344, 206_945)]
