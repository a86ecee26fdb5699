"""The simulated array executes nests, and notices schedules and words that are wrong."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cached_property
from typing import Any

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.formulations.pe_allocation.nest.tiled_problem import NestPins
from mapper.formulations.pe_allocation.referee.verify_nest import (
    FEWEST,
    HANDED,
    LAID_OUT,
    SUMMED,
    UNITS,
    verify_nest,
)
from mapper.models.pe_allocation.nest.mapping import NestMapping
from mapper.sim.pe_allocation.nest import report_nest
from mapper.sim.pe_allocation.nest.simulation import CROWDED, EARLY_SUM, UNSENT
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.nest.catalogue import METHODS
from mapper.workloads.nest.nest_file import nest_from_document

PRODUCT: dict[str, Any] = {
    "schema": "mapper.nest/1",
    "name": "product",
    "loops": {"I": 7, "J": 6, "K": 9},
    "operands": [
        {"tensor": "O", "index": ["I", "J"], "access": "read_write"},
        {"tensor": "A", "index": ["I", "K"]},
        {"tensor": "B", "index": ["K", "J"]},
    ],
}


def posed(**axes: str | None) -> NestProblem:
    machine = tcpa_preset("tcpa-3x3")
    assert machine is not None
    nest = nest_from_document(dict(PRODUCT), "product")
    return NestProblem(nest, tcpa_from_document(machine, "m"), pins=NestPins({}, None, dict(axes)))


def mapped(problem: NestProblem) -> NestMapping:
    found = METHODS["auto"].search(problem, Effort()).mapping
    assert found is not None
    return found


def rules(problem: NestProblem, mapping: NestMapping) -> set[str]:
    """What goes wrong in the run."""
    result = report_nest(problem, mapping)
    assert not result["agrees"]
    return {one["rule"] for one in result["violations"]}


def broken(problem: NestProblem, mapping: NestMapping) -> set[str]:
    """What the referee says."""
    return {one.rule for one in verify_nest(problem, mapping).broken}


def test_a_product_of_matrices_is_numpys() -> None:
    problem = posed()
    result = report_nest(problem, mapped(problem))
    assert result["agrees"] and result["outputs_equal"] and result["iterations"] == 7 * 6 * 9


def test_a_sum_that_is_read_too_early_is_noticed() -> None:
    problem = posed(rows=None, columns="K")
    right = mapped(problem)
    early = replace(right, outer=tuple(start - (start > 1) for start in right.outer))
    assert early != right
    assert EARLY_SUM in rules(problem, early)
    assert SUMMED in broken(problem, early)


def test_a_sum_from_row_to_row_that_is_read_too_early_is_noticed() -> None:
    document = {
        **PRODUCT,
        "operands": [{"tensor": "O", "index": ["I"], "access": "read_write"}, *PRODUCT["operands"][1:]],
    }
    nest = nest_from_document(document, "sums")
    problem = replace(posed(rows="J", columns="K"), nest=nest)
    right = mapped(problem)
    assert report_nest(problem, right)["agrees"]
    starts = right.outer_of
    early = replace(right, outer=tuple(starts[loop] - (loop == "J") for loop in right.loops))
    assert EARLY_SUM in rules(problem, early)
    assert SUMMED in broken(problem, early)


def test_an_input_that_is_read_before_it_is_handed_on_is_noticed() -> None:
    problem = posed(rows="I", columns="J")
    at_once = replace(mapped(problem), outer=(0, 0, 0))
    assert UNSENT in rules(problem, at_once)
    assert HANDED in broken(problem, at_once)


def test_more_iterations_in_a_word_than_units_are_refused() -> None:
    problem = posed()
    assert UNITS in broken(problem, replace(mapped(problem), lanes=3))


class Crowded(NestMapping):
    """A PE that is told to begin words too soon."""

    @cached_property
    def inner_of(self) -> dict[str, int]:
        return {loop: cycles // 2 for loop, cycles in super().inner_of.items()}


def test_words_that_crowd_a_pe_are_noticed() -> None:
    problem = posed()
    right = mapped(problem)
    slow = replace(right, interval=2)
    crowded = Crowded(**{field.name: getattr(slow, field.name) for field in fields(slow)})
    assert report_nest(problem, slow)["agrees"]
    assert CROWDED in rules(problem, crowded)


def test_tiles_beyond_the_array_are_refused() -> None:
    problem = posed(rows="I", columns="J")
    assert LAID_OUT in broken(problem, replace(mapped(problem), tile=(1, 2, 9)))


def test_pes_beyond_the_limit_are_refused() -> None:
    problem = posed()
    mapping = mapped(problem)
    assert FEWEST in broken(replace(problem, max_pes=2), mapping)


def test_an_order_that_is_not_of_the_nest_has_no_cost() -> None:
    problem = posed()
    assert verify_nest(problem, replace(mapped(problem), order=("I", "J", "J"))).cost is None
