"""An II is left out where what the checker of proofs says of it contradicts itself."""

from __future__ import annotations

import time

import pytest

from mapper.arch.cgra import CgraMachine
from mapper.arch.source import load_machine
from mapper.formulations.modulo_schedule.problem import ModuloProblem
from mapper.solver.method import Effort
from mapper.solver.modulo_schedule.evidence import loop_document
from mapper.solver.modulo_schedule.exact.refutation import Contradiction
from mapper.workloads.graph.kernel_source import load_kernel

ENOUGH = 40_000
"""Conflicts: about five times what it takes."""


def asked(ii: int, seconds: float = 0.0, kernel: str = "conv3x3", array: str = "srp-2x4") -> Contradiction:
    machine = load_machine(array)[0]
    assert isinstance(machine, CgraMachine)
    return Contradiction(loop_document(ModuloProblem(load_kernel(kernel)[0], machine)), ii, seconds)


@pytest.mark.parametrize(
    ("kernel", "array", "ii"),
    [
        ("gemm", "srp-2x2", 3),
        ("gemm", "srp-2x2", 4),
        ("dot", "srp-2x2", 3),
        pytest.param("conv3x3", "srp-2x4", 4, marks=pytest.mark.slow),
    ],
)
def test_an_interval_with_a_schedule_is_not(kernel: str, array: str, ii: int) -> None:
    assert not asked(ii, kernel=kernel, array=array).found(2_000, Effort())


def test_an_interval_without_is_and_what_was_learnt_is_kept_from_one_time_to_the_next() -> None:
    contradiction = asked(3)
    asked_for = next(turn for turn in range(1, 100) if contradiction.found(1_000, Effort()))
    assert 1 < asked_for * 1_000 <= ENOUGH
    contradiction.close()


def test_clauses_are_not_stated_where_that_would_outlast_the_limit() -> None:
    assert not asked(3, seconds=6.0).found(ENOUGH, Effort(time.monotonic() + 10.0))
