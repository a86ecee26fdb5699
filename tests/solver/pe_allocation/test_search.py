"""What searches for allocations say when they are cut, refused or given storage to keep."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.formulations.pe_allocation.referee.verify import verify
from mapper.models.pe_allocation.stream.layer import stream_network
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.catalogue import AUTOMATIC, METHODS, AllocationMethod
from mapper.solver.pe_allocation.parallel.brute_force import BRUTE_FORCE, REFUSED
from mapper.solver.pe_allocation.parallel.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.pe_allocation.parallel.greedy import GREEDY
from mapper.solver.pe_allocation.parallel.integer_program import INTEGER_PROGRAM
from mapper.solver.pe_allocation.parallel.proportional import PROPORTIONAL
from mapper.solver.pe_allocation.parallel.stage import BUFFERS
from mapper.workloads.source import load_layers


@pytest.fixture(scope="module")
def mnist() -> AllocationProblem:
    return posed("mnist-tcpa", "tcpa-4x4")


def posed(workload: str, array: str) -> AllocationProblem:
    document = tcpa_preset(array)
    assert document is not None
    return AllocationProblem(stream_network(load_layers(workload, None)), tcpa_from_document(document, "x"))


def test_auto_comes_first_and_exact_methods_before_heuristics() -> None:
    assert list(METHODS) == ["auto", "ilp", "cp-sat", "brute-force", "greedy", "proportional"]


@pytest.mark.parametrize("method", [INTEGER_PROGRAM, CONSTRAINT_PROGRAM, AUTOMATIC])
def test_no_time_is_no_proof(mnist: AllocationProblem, method: AllocationMethod) -> None:
    latency = replace(mnist, objective="latency")
    outcome = method.search(latency, Effort(deadline=time.monotonic()))
    assert not outcome.proven and outcome.stop == "time_limit"
    assert outcome.bound is not None and outcome.value is not None
    assert outcome.bound <= 66_528 <= outcome.value


def test_an_interrupt_keeps_what_was_found(mnist: AllocationProblem) -> None:
    interrupt = threading.Event()
    interrupt.set()
    outcome = INTEGER_PROGRAM.search(replace(mnist, objective="latency"), Effort(interrupt=interrupt))
    assert outcome.stop == "interrupted" and outcome.mapping is not None


def test_brute_force_refuses_what_is_too_large() -> None:
    outcome = BRUTE_FORCE.search(posed("vgg19", "tcpa-16x16"), Effort())
    assert outcome.mapping is None and not outcome.proven and outcome.restrictions == (REFUSED,)


def test_greedy_proves_where_it_meets_the_bound(mnist: AllocationProblem) -> None:
    outcome = GREEDY.search(mnist, Effort())
    assert outcome.proven and outcome.mapping is not None and outcome.mapping.pes == (4, 1, 8, 1, 2)


def test_shares_in_proportion_to_macs_lose_a_quarter(mnist: AllocationProblem) -> None:
    outcome = PROPORTIONAL.search(mnist, Effort())
    assert outcome.mapping is not None and not outcome.proven and outcome.bound is not None
    assert outcome.mapping.pes == (2, 1, 8, 1, 2)
    assert outcome.value == pytest.approx(0.75 * outcome.bound)


def test_placed_allocations_pass_the_referee(mnist: AllocationProblem) -> None:
    outcome = METHODS["auto"].search(mnist, Effort())
    assert outcome.mapping is not None and outcome.mapping.placement is not None
    assert verify(mnist, outcome.mapping).valid


def test_a_pe_for_all_layers_is_enough_where_they_may_share(mnist: AllocationProblem) -> None:
    outcome = INTEGER_PROGRAM.search(replace(mnist, objective="pes", sharing=True), Effort())
    assert outcome.proven and outcome.value == 1
    assert outcome.mapping is not None and outcome.mapping.shared == ((0, 1, 2, 3, 4),)


def test_line_buffers_that_the_best_allocation_keeps_prove_it(mnist: AllocationProblem) -> None:
    free = replace(mnist, model="streaming")
    best = INTEGER_PROGRAM.search(free, Effort())
    assert best.mapping is not None
    cost = verify(free, best.mapping).cost
    assert cost is not None
    kept = INTEGER_PROGRAM.search(replace(free, max_bytes=cost.buffer_bytes), Effort())
    assert kept.proven and kept.value == best.value
    tight = INTEGER_PROGRAM.search(replace(free, max_bytes=12_264), Effort())
    assert tight.proven and tight.value == best.value, "idle cycles keep the limit at the same pace"
    in_time = Effort(deadline=time.monotonic() + 5)
    tighter = INTEGER_PROGRAM.search(replace(free, max_bytes=12_263), in_time)
    assert not tighter.proven and tighter.restrictions == (BUFFERS,)
    none = INTEGER_PROGRAM.search(replace(free, max_bytes=9000), Effort())
    assert none.proven and none.mapping is None
