"""Searches that begin with a mapping that is known: proofs stay what they are, and nothing ends worse."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapper.api.problem import PosedProblem, pose
from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.network.problem import LayerProblem
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.formulations.tiling.problem import TilingProblem
from mapper.kind.part import Options
from mapper.solver.contradiction import ContradictionError
from mapper.solver.method import Effort, Progress, Start
from mapper.solver.modulo_schedule.network.heuristic.tuning import algorithm_1, exhaustive
from mapper.solver.outcome import Outcome
from mapper.solver.pbqp.catalogue import METHODS as PBQP_METHODS
from mapper.solver.tiling.catalogue import METHODS as TILING_METHODS
from mapper.solver.tiling.heuristic.random_search import random_search
from mapper.workloads.nest.layer_nest import matrix_product_nest
from mapper.workloads.pbqp.instance import instance
from tests.codegen.modulo_schedule.small_layer import convolution_layer, window_of

MIXED = Options(fix={"mode": "mixed"})
SHARED = Options(fix={"sharing": "on"})
EXACT = [
    ("resnet-dmazerunner/conv5_2", "dmazerunner-256", "edp", Options(), "opt1", "branch-and-bound"),
    ("resnet-dmazerunner/conv5_2", "dmazerunner-256", "energy", Options(), "soc", "branch-and-bound"),
    ("resnet-dmazerunner/conv5_2", "dmazerunner-256", "latency", Options(), "soc", "branch-and-bound"),
    ("resnet-dmazerunner/conv5_2", "dmazerunner-256", "edp", Options(), "random", "bounded-table"),
    ("dot", "srp-2x2", "ii", Options(), "annealing", "cp-sat"),
    ("dot", "srp-2x2", "ii", Options(), "annealing", "decoupled"),
    ("gemm", "srp-4x4", "ii", Options(), "annealing", "auto"),
    ("mnist-tcpa", "tcpa-4x4", "throughput", Options(), "proportional", "ilp"),
    ("mnist-tcpa", "tcpa-4x4", "latency", Options(), "proportional", "cp-sat"),
    ("mnist-tcpa", "tcpa-4x4", "throughput", SHARED, "proportional", "auto"),
    ("mnist-tcpa", "tcpa-4x4", "throughput", MIXED, "proportional", "auto"),
    ("mnist-tcpa", "tcpa-4x4", "latency", MIXED, "proportional", "auto"),
    ("mnist-tcpa", "tcpa-4x4", "pes", MIXED, "greedy", "auto"),
    ("mnist-tcpa", "tcpa-4x4", "latency", MIXED, "greedy", "ilp"),
    ("mnist-tcpa", "tcpa-4x4", "throughput", MIXED, "greedy", "cp-sat"),
    ("lenet5", "dynamap-u200", "latency", Options(), "random", "auto"),
    ("lenet5", "dynamap-u200", "edp", Options(), "random", "auto"),
    ("lenet5/conv1", "snowflake-1cc", "latency", Options(), "greedy", "dynamic-programming"),
    ("lenet5/conv1", "snowflake-2cc", "traffic", Options(), "greedy", "auto"),
]

LONG = [
    ("lenet5", "dynamap-u200", "edp", Options(), "random", "auto"),
]
"""What is proven three times, and takes long: its method is tried with another objective too."""


@cache
def posed(workload: str, arch: str, objective: str, fixed: str) -> PosedProblem:
    options = Options(fix=dict([fixed.split("=")]) if fixed else {})
    return pose(workload, arch, objective, options)


def problem_of(workload: str, arch: str, objective: str, options: Options) -> tuple[Any, dict[str, Any]]:
    fixed = "".join(f"{key}={value}" for key, value in options.fix.items())
    found = posed(workload, arch, objective, fixed)
    return found.parts[0].problem, found.kind.methods_of(found.read.value)


def start_of(problem: Any, found: Outcome[Any], objective: str, bound: float | None = None) -> Start[Any]:
    assert found.mapping is not None and found.value is not None
    return Start(problem, found.mapping, found.value, bound, "before", objective == "throughput")


@pytest.mark.parametrize(
    ("workload", "arch", "objective", "options", "poor", "exact"),
    [pytest.param(*one, marks=pytest.mark.slow if one in LONG else ()) for one in EXACT],
)
def test_a_start_changes_no_proven_optimum(
    workload: str, arch: str, objective: str, options: Options, poor: str, exact: str
) -> None:
    problem, methods = problem_of(workload, arch, objective, options)
    cold = methods[exact].search(problem, Effort())
    for start in (
        start_of(problem, methods[poor].search(problem, Effort()), objective),
        start_of(problem, cold, objective, cold.bound),
    ):
        warm = start.combined(methods[exact].search(problem, Effort(seed=1, start=start)))
        assert (warm.value, warm.proven) == (cold.value, cold.proven)
        assert warm.bound == cold.bound


@pytest.mark.parametrize(("workload", "arch", "objective", "options", "poor", "exact"), EXACT)
def test_a_search_without_time_ends_no_worse_than_its_start(
    workload: str, arch: str, objective: str, options: Options, poor: str, exact: str
) -> None:
    problem, methods = problem_of(workload, arch, objective, options)
    start = start_of(problem, methods[poor].search(problem, Effort()), objective)
    effort = Effort(deadline=time.monotonic() - 1, start=start)
    found = start.combined(methods[exact].search(problem, effort))
    assert found.value is not None and not start.beats(start.value, found.value)


@pytest.mark.parametrize("name", ["annealing", "genetic", "random"])
def test_heuristics_go_on_from_a_better_tiling(name: str) -> None:
    problem, methods = problem_of("resnet-dmazerunner/conv5_2", "dmazerunner-256", "edp", Options())
    start = start_of(problem, methods["branch-and-bound"].search(problem, Effort()), "edp")
    methods[name].prepare()
    interrupt = threading.Event()
    effort = Effort(interrupt=interrupt, start=start, report=lambda progress: interrupt.set())
    found = methods[name].search(problem, effort)
    assert start.combined(found).value == start.value
    if name != "random":
        assert found.value == start.value


def test_a_start_of_another_problem_is_none() -> None:
    problem, methods = problem_of("dot", "srp-2x2", "ii", Options())
    start = start_of(problem, methods["auto"].search(problem, Effort()), "ii")
    assert Effort(start=start).known(problem) is start
    assert Effort(start=start).known(replace(problem, fixed_ii=1)) is None


def cut_after(evaluations: int, start: Start[Any] | None) -> Effort:
    """An effort that ends when so much is reported to have been evaluated."""
    interrupt = threading.Event()

    def heard(progress: Progress) -> None:
        if progress.evaluations >= evaluations:
            interrupt.set()

    return Effort(interrupt=interrupt, report=heard, start=start)


def test_partitions_that_are_cut_again_and_again_end_with_the_proof() -> None:
    problem, methods = problem_of("mnist-tcpa", "snowflake-1cc", "latency", Options())
    cold = methods["dynamic-programming"].search(problem, Effort())
    start: Start[Any] | None = None
    spent, costed = 0, 0
    while spent < 12:
        found = methods["dynamic-programming"].search(problem, cut_after(150, start))
        found = found if start is None else start.combined(found)
        spent, costed = spent + 1, costed + (found.evaluations or 0)
        if found.proven:
            break
        start = start_of(problem, found, "latency", found.bound)
    assert (found.value, found.bound) == (cold.value, cold.bound)
    assert spent > 2 and costed < 2 * (cold.evaluations or 0)


def test_intervals_below_a_known_bound_are_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from mapper.solver.modulo_schedule.exact import constraint_program

    problem, methods = problem_of("gemm", "srp-4x4", "ii", Options())
    found = methods["iterative"].search(problem, Effort())
    tried: list[int] = []
    decide = constraint_program.decide

    def heard(problem: Any, ii: int, *words: Any, **named: Any) -> Any:
        tried.append(ii)
        return decide(problem, ii, *words, **named)

    monkeypatch.setattr(constraint_program, "decide", heard)
    start = replace(start_of(problem, found, "ii"), bound=found.value)
    again = start.combined(methods["cp-sat"].search(problem, Effort(start=start)))
    assert again.proven and not tried


@pytest.mark.slow
def test_a_tuned_layer_to_begin_with_leads_to_the_same_bound_and_no_more_cycles() -> None:
    machine, _ = load_machine("srp-2x2")
    assert isinstance(machine, CgraMachine)
    problem = LayerProblem(convolution_layer((1, 1, 3, 3), 1, window_of(2)), machine)
    start = start_of(problem, algorithm_1(problem, Effort()), "latency")
    cold, warm = exhaustive(problem, Effort(), 1), exhaustive(problem, Effort(start=start), 1)
    assert cold.value is not None and warm.value is not None
    assert warm.value <= min(cold.value, start.value) and warm.bound == cold.bound


START: Start[str] = Start("problem", "old", 10, 4, "before")
NOTHING: Outcome[str] = Outcome.unknown("time_limit")


def test_what_finds_nothing_gives_the_start() -> None:
    found = START.combined(replace(NOTHING, bound=6))
    assert (found.mapping, found.value, found.bound, found.method) == ("old", 10, 6, "before")
    assert not found.proven and found.stop == "time_limit"


def test_a_bound_that_meets_the_start_proves_it() -> None:
    found = START.combined(replace(NOTHING, bound=10, method="now"))
    assert found.proven and found.stop == "complete" and found.method == "before + now"


@given(
    st.integers(1, 50), st.integers(1, 50), st.none() | st.integers(1, 50), st.none() | st.integers(1, 50),
    st.booleans(),
)  # fmt: skip
@settings(derandomize=True, deadline=None)
def test_combining_keeps_the_better_value_and_claims_no_more_than_both(
    old: int, new: int, known: int | None, bound: int | None, most: bool
) -> None:
    sign = -1 if most else 1
    start = Start("problem", "old", sign * old, None if known is None else sign * known, "before", most)
    fresh = Outcome.bounded("new", sign * new, None if bound is None else sign * bound, "time_limit")
    if any(claim is not None and claim > min(old, new) for claim in (known, bound)):
        with pytest.raises(ContradictionError):
            start.combined(fresh)
        return
    found = start.combined(fresh)
    assert found.value == sign * min(old, new)
    claims = [claim for claim in (known, bound) if claim is not None]
    assert found.bound == (sign * max(claims) if claims else None)
    assert found.proven == (found.bound == found.value)
    heard = start.heard(Progress(sign * new, None if bound is None else sign * bound, 1))
    assert heard.value == found.value


@given(st.integers(1, 24), st.integers(1, 24), st.integers(1, 24), st.integers(0, 5))
@settings(derandomize=True, deadline=None, max_examples=25)
def test_any_tiling_to_begin_with_leads_to_the_same_optimum(i: int, j: int, k: int, seed: int) -> None:
    machine, _ = load_machine("dmazerunner-256")
    problem = TilingProblem(matrix_product_nest("small", (), i, j, k), machine, "edp")
    exact = TILING_METHODS["branch-and-bound"]
    drawn = random_search(200).search(problem, Effort(seed=seed))
    cold = exact.search(problem, Effort())
    if drawn.mapping is None:
        return
    warm = exact.search(problem, Effort(start=start_of(problem, drawn, "edp")))
    assert warm == replace(cold, evaluations=warm.evaluations)


@given(st.integers(0, 10_000), st.sampled_from(["auto", "branch-and-bound", "elimination", "ilp", "cp-sat"]))
@settings(derandomize=True, deadline=None, max_examples=20)
def test_any_assignment_to_begin_with_leads_to_the_same_least_cost(seed: int, name: str) -> None:
    draw = random.Random(seed)
    own = [[draw.randint(0, 9) for _ in range(3)] for _ in range(7)]
    edges = [
        (u, v, [[draw.randint(0, 9) for _ in range(3)] for _ in range(3)])
        for u in range(7)
        for v in range(u)
        if draw.random() < 0.7
    ]
    problem = PbqpProblem(instance(own, edges))
    poor = PBQP_METHODS["descent"].search(problem, Effort(seed=seed))
    cold = PBQP_METHODS[name].search(problem, Effort())
    start = start_of(problem, poor, "value")
    warm = start.combined(PBQP_METHODS[name].search(problem, Effort(start=start)))
    assert (warm.value, warm.proven) == (cold.value, cold.proven)
