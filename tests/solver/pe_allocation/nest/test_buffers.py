"""Buffers at border PEs: one for each tensor whose words go in or out there."""

from __future__ import annotations

from typing import Any

from mapper.arch.tcpa import TcpaMachine, tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.nest.problem import NestProblem
from mapper.formulations.pe_allocation.recurrence.problem import RecurrenceProblem
from mapper.formulations.pe_allocation.referee.verify_nest import HELD, verify_nest
from mapper.formulations.pe_allocation.referee.verify_recurrence import verify_recurrence
from mapper.solver.method import Effort
from mapper.solver.pe_allocation.nest.catalogue import METHODS
from mapper.solver.pe_allocation.recurrence.catalogue import METHODS as RECURRENT
from mapper.workloads.nest.nest_file import nest_from_document
from mapper.workloads.recurrence.recurrence_file import recurrence_from_document

OUTER = nest_from_document(
    {
        "schema": "mapper.nest/1",
        "name": "outer",
        "loops": {"i": 3, "j": 4},
        "operands": [
            {"tensor": "O", "index": ["i"], "access": "read_write"},
            {"tensor": "w", "index": ["i"]},
            {"tensor": "x", "index": ["j"]},
        ],
    },
    "outer",
)
STENCIL = recurrence_from_document(
    {
        "schema": "mapper.recurrence/1",
        "name": "stencil",
        "loops": {"t": 3, "i": 4},
        "statements": ["A[t, i] = A[t - 1, i - 1] + x[i] + w[i]"],
    },
    "stencil",
)


def array(buffers: int | None, **fields: Any) -> TcpaMachine:
    document = tcpa_preset("tcpa-2x2")
    assert document is not None
    border = {**document["border"], "buffers": buffers}
    return tcpa_from_document({**document, "link_words": None, "border": border, **fields}, "tcpa-2x2")


def test_a_nest_takes_layouts_whose_tensors_have_buffers() -> None:
    free, few = (NestProblem(OUTER, array(buffers)) for buffers in (3, 2))
    best = METHODS["auto"].search(free, Effort())
    assert best.mapping is not None and best.value is not None
    assert [(one.rule, one.size) for one in verify_nest(few, best.mapping).broken] == [(HELD, 1)]
    answers = [METHODS[name].search(few, Effort()) for name in ("auto", "cp-sat", "brute-force")]
    assert all(answer.proven for answer in answers) and len({answer.value for answer in answers}) == 1
    # Sums go from row to row: what a result leaves from is not where all operands enter.
    assert answers[0].mapping is not None and "j" in (answers[0].mapping.rows, answers[0].mapping.columns)


def test_a_nest_whose_tensors_meet_at_one_border_pe_in_every_layout_has_no_mapping() -> None:
    answers = [
        METHODS[name].search(NestProblem(OUTER, array(1)), Effort()) for name in ("auto", "brute-force")
    ]
    assert all(answer.proven and answer.mapping is None for answer in answers)


def test_a_recurrence_without_buffers_for_its_tensors_has_no_mapping() -> None:
    enough, few = (RecurrenceProblem(STENCIL, array(buffers)) for buffers in (3, 2))
    found = RECURRENT["auto"].search(enough, Effort())
    assert found.proven and found.mapping is not None
    assert [(one.rule, one.size) for one in verify_recurrence(few, found.mapping).broken] == [(HELD, 1)]
    answer = RECURRENT["auto"].search(few, Effort())
    assert answer.proven and answer.mapping is None
