"""The oracle itself, held against counts and cases that are worked out by hand."""

from __future__ import annotations

import threading
import time
from itertools import permutations, product

import pytest

from mapper.formulations.tiling.referee.verify import verify
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort
from mapper.solver.tiling.exact.brute_force import BRUTE_FORCE, MOST_EVALUATIONS, brute_force
from mapper.workloads.document import InputError
from tests.solver.tiling.small import matrix_product, problem, recurrence, small_machine


def test_brute_force_counts_every_tiling_and_order() -> None:
    roomy = small_machine(4, 4, rf_bytes=512, spm={"bank_bytes": 8})
    # One loop that runs: four tilings. Two: sixteen, of which one has both at DRAM and one both at SPM.
    assert brute_force(problem(matrix_product(2, 1, 1), roomy), Effort()).evaluations == 4
    assert brute_force(problem(matrix_product(2, 2, 1), roomy), Effort()).evaluations == 18


def test_brute_force_is_as_good_as_trying_each_full_permutation() -> None:
    posed = problem(matrix_product(2, 2, 2), objective="latency")
    loops = posed.nest.loops
    rows = [(2, 1, 1, 1), (1, 2, 1, 1), (1, 1, 2, 1), (1, 1, 1, 2)]
    best = None
    for first, second, third in product(rows, repeat=3):
        for dram, spm in product(permutations(loops), repeat=2):
            mapping = TilingMapping(loops, (first, second, third), dram, spm)
            verdict = verify(posed, mapping)
            if verdict.valid and verdict.cost is not None:
                key = posed.rank(verdict.cost), mapping.factors, dram, spm
                best = key if best is None else min(best, key)
    found = brute_force(posed, Effort()).mapping
    assert best is not None and found is not None
    assert (found.factors, found.dram_order, found.spm_order) == best[1:]


def test_brute_force_proves_its_value() -> None:
    outcome = brute_force(problem(matrix_product()), Effort())
    assert outcome.proven and outcome.stop == "complete"
    assert outcome.bound == outcome.value


def test_brute_force_proves_that_nothing_fits() -> None:
    outcome = brute_force(problem(matrix_product(), small_machine(rf_bytes=4)), Effort())
    assert (outcome.mapping, outcome.value, outcome.bound, outcome.proven) == (None, None, None, True)


def test_brute_force_keeps_a_recurrence_out_of_space() -> None:
    outcome = brute_force(problem(recurrence(4, 2), objective="latency"), Effort())
    assert outcome.mapping is not None
    assert outcome.mapping.trip_counts("spatial") == {"i": 1, "j": 2}


@pytest.mark.parametrize("size", [512, (1 << 31) - 1])
def test_brute_force_refuses_what_is_too_large(size: int) -> None:
    with pytest.raises(InputError, match=f"too many for brute-force.*{MOST_EVALUATIONS}"):
        BRUTE_FORCE.search(problem(matrix_product(size, 512, 512)), Effort())


def test_a_brute_force_that_is_cut_proves_nothing() -> None:
    outcome = brute_force(problem(matrix_product()), Effort(deadline=time.monotonic()))
    assert (outcome.stop, outcome.proven) == ("time_limit", False)


def test_a_brute_force_that_is_interrupted_says_so() -> None:
    interrupt = threading.Event()
    interrupt.set()
    outcome = brute_force(problem(matrix_product()), Effort(interrupt=interrupt))
    assert (outcome.stop, outcome.proven) == ("interrupted", False)
