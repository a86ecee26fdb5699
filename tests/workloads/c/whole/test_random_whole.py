"""Random functions with several loops leave in memory what the system's compiler leaves there, and run as often as is
counted without data, whoever runs their outer loops; solved, they take the cycles that were promised."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.whole.bound import bound
from mapper.formulations.modulo_schedule.whole.problem import WholeProblem
from mapper.formulations.modulo_schedule.whole.referee.verify import verify_whole
from mapper.models.modulo_schedule.whole.walk import walked
from mapper.sim.modulo_schedule.whole.compiled import run_compiled
from mapper.sim.modulo_schedule.whole.report import report_whole
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.catalogue import METHODS
from mapper.solver.modulo_schedule.whole.loop_by_loop import search_whole
from mapper.workloads.c.whole.kernel import whole_from_c
from mapper.workloads.document import InputError
from mapper.workloads.graph.kernel import Kernel
from mapper.workloads.graph.kernel_execution import Memory
from mapper.workloads.reference.kernel import seeded_arrays
from mapper.workloads.whole.execution import Execution, run_graph
from mapper.workloads.whole.program import AUTO, FLATTEN, HOST, WholeKernel
from tests.solver.sample import Count, counts, drawn
from tests.workloads.c.whole.random_whole import Writer

REFUSED = (
    "data say how often", "a jump between loops", "no loop here is one for the array", "make it larger",
    "under a condition inside an expression",
)  # fmt: skip
"""What may be said of a function that is not taken."""


def functions() -> st.SearchStrategy[str]:
    return st.randoms(use_true_random=False).map(lambda random: Writer(random.choice).function())


def read(text: str, nest: str) -> WholeKernel | None:
    try:
        return whole_from_c(text, "f.c", "f", "f", nest=nest)[0]
    except InputError as error:
        assert any(words in str(error) for words in REFUSED), error
        return None


def check_run(whole: WholeKernel, seed: int) -> str:
    """Runs the graphs beside the compiled function; whether that was possible."""
    memory = seeded_arrays(whole.arrays, seed)
    trips: dict[int, Counter[int]] = {}

    def run(number: int, kernel: Kernel, words: Memory) -> Memory:
        trips.setdefault(number, Counter())[kernel.trip_count or 0] += 1
        return run_graph(number, kernel, words)

    execution = Execution(whole, memory, run)
    try:
        after = execution.run()
    except InputError as error:
        assert "make it larger" in str(error)
        return "outside"
    compiled = run_compiled(whole, memory)
    assert compiled is not None
    after |= execution.left(compiled)
    for name, words in compiled.items():
        assert words.tobytes() == after[name].tobytes(), f"{name} with nest {whole.nest}"
    try:
        tally = walked(whole)
    except InputError as error:
        assert "data decide" in str(error)
        return "uncounted"
    assert +tally.operations == execution.operations
    assert tally.runs == trips
    return "equal"


@pytest.mark.parametrize("count", counts(quick=8, thorough=2_000))
def test_random_functions_compute_what_the_compiler_makes_of_them(count: int) -> None:
    found: Counter[str] = Counter()

    @drawn(count)
    @given(functions(), st.integers(0, 3))
    def holds(text: str, seed: int) -> None:
        for nest in (HOST, FLATTEN):
            whole = read(text, nest)
            found["refused" if whole is None else check_run(whole, seed)] += 1

    holds()
    assert found["equal"] > found["refused"]


@pytest.mark.slow
@pytest.mark.parametrize("count", [Count.of_part(20, at) for at in range(5)])
def test_random_functions_take_the_cycles_that_were_promised(count: int) -> None:
    machine, _ = load_machine("wide-4x4")
    assert isinstance(machine, CgraMachine)
    found: Counter[str] = Counter()

    @drawn(count)
    @given(functions())
    def holds(text: str) -> None:
        whole = read(text, AUTO)
        if whole is None:
            return
        problem = WholeProblem(whole, machine)
        try:
            bounds = [bound(choice) for choice in problem.choices]
        except InputError as error:
            assert "data decide" in str(error)
            return
        outcome = search_whole(METHODS["iterative"], problem, Effort(deadline=time.monotonic() + 5))
        if outcome.mapping is None:
            found[outcome.stop] += 1
            return
        verdict = verify_whole(problem, outcome.mapping)
        assert verdict.valid and verdict.cost is not None and verdict.cost.cycles == outcome.value
        assert outcome.value >= min(bounds) and (outcome.bound is None or outcome.value >= outcome.bound)
        try:
            run = report_whole(problem, outcome.mapping)
        except InputError as error:
            assert "make it larger" in str(error)
            return
        assert run["outputs_equal"] and run["agrees"], run
        assert run["cycles"] == outcome.value
        found["run"] += 1

    holds()
    assert found["run"]
