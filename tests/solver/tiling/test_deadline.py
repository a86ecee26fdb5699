"""A search of tilings may be ended at any moment: what it says then holds, and nothing breaks."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import pytest

from mapper.arch.source import load_machine
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.certificate import Stop
from mapper.solver.method import Effort, Method
from mapper.solver.tiling.catalogue import AUTOMATIC
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.tiling.exact.brute_force import BRUTE_FORCE
from mapper.solver.tiling.program.bounded_table import BOUNDED_TABLE
from mapper.workloads.source import load_network
from tests.solver.tiling.small import convolution, matrix_product, problem, recurrence, small_machine

METHODS = (BRANCH_AND_BOUND, BOUNDED_TABLE, AUTOMATIC, BRUTE_FORCE)
PROBLEMS = {
    "matrix product": problem(matrix_product(2, 3, 2)),
    "convolution": problem(convolution(size=2), objective="energy"),
    "exact energies": problem(matrix_product(), small_machine(1, 2, rules={"energy": "exact"})),
    "backward recurrence": problem(recurrence(3, 4, i=1, j=-1)),
    "nothing fits a register file": problem(matrix_product(), small_machine(rf_bytes=4)),
    "pins that contradict a bound": problem(matrix_product(), I__rf="3"),
}


@dataclass(frozen=True)
class Patience(Effort):
    """Effort that ends at the so-and-so-many-th time that it is asked, whatever the clock says."""

    asked: list[int] = field(default_factory=lambda: [0])
    times: int = 0

    def stopped(self) -> Stop | None:
        self.asked[0] += 1
        return "time_limit" if self.asked[0] > self.times else None


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_whenever_the_time_ends_the_answer_holds(
    method: Method[TilingProblem, TilingMapping], name: str
) -> None:
    least = BRUTE_FORCE.search(PROBLEMS[name], Effort()).value
    ended = 0
    for times in (0, 1, 2, 3, 4, 5, 8, 13, 21, 34, 1_000_000):
        outcome = method.search(PROBLEMS[name], Patience(times=times))
        ended += outcome.stop == "time_limit"
        if outcome.proven:
            assert outcome.stop == "complete" and outcome.value == least
        if outcome.mapping is None:
            assert outcome.value is None
        else:
            assert least is not None and outcome.value is not None and outcome.value >= least
        if outcome.bound is not None and least is not None:
            assert outcome.bound <= least
    assert ended, "no time was short enough to end it"


@pytest.mark.parametrize("seconds", [-1.0, 0.0, 1e-4, 1e-3, 1e-2, 0.05])
@pytest.mark.parametrize("part", ["conv1", "conv2_2"])
def test_a_layer_survives_every_deadline(part: str, seconds: float) -> None:
    machine, _ = load_machine("dmazerunner-256")
    nest = next(layer.nest for layer in load_network("resnet-dmazerunner").layers if layer.name == part)
    posed = TilingProblem(nest, machine, "edp")
    least = {"conv1": 19282128596308480, "conv2_2": 7041210790216064}[part]
    outcome = BRANCH_AND_BOUND.search(posed, Effort(deadline=time.monotonic() + seconds))
    assert outcome.bound is not None and 0 < outcome.bound <= least
    assert outcome.value is None or outcome.value >= least
    assert outcome.proven == (outcome.stop == "complete")


def test_what_needs_no_time_is_proven_in_none() -> None:
    """No array tile fits: the tables alone are the proof, so that a deadline after them changes nothing."""
    outcome = BRANCH_AND_BOUND.search(PROBLEMS["pins that contradict a bound"], Patience(times=1))
    assert outcome.proven and outcome.mapping is None
