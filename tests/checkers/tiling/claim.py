"""Claims about tilings as documents, what the checker says of them, and whether they hold: by trying everything."""

from __future__ import annotations

import importlib.util
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from mapper.arch.dataflow import DataflowMachine, dataflow_from_document
from mapper.formulations.tiling.problem import Objective, Pins, TilingProblem
from mapper.formulations.tiling.referee.verify import verify
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.mapping_file import tiling_from_json
from mapper.models.tiling.padding import Padding
from mapper.solver.method import Effort, Method
from mapper.solver.proof import Claim, Status, digest
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.tiling.proof import OBJECTIVES, prove
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import AffineIndex, LoopNest, Operand
from tests.solver.tiling.oracle import mappings
from tests.solver.tiling.small import machine_fields

CHECKER = Path(__file__).parents[3] / "checkers" / "check_tiling.py"
Document = dict[str, Any]


@lru_cache(maxsize=1)
def checker() -> Any:
    """The checker as a module."""
    spec = importlib.util.spec_from_file_location("check_tiling", CHECKER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verdict(document: Any) -> tuple[str, str]:
    """Status and reason, of a document that has been a file."""
    _, status, reason = checker().verdict(json.loads(json.dumps(document)))
    return status, reason


def proof_of(
    problem: TilingProblem, method: Method[TilingProblem, TilingMapping] = BRANCH_AND_BOUND
) -> Document:
    """The proof of what a method proves."""
    outcome = method.search(problem, Effort())
    assert outcome.proven
    status: Status = "infeasible" if outcome.mapping is None else "optimal"
    claim = Claim(status, outcome.mapping, outcome.value, outcome.bound)
    return prove(problem, claim, Effort()).to_json("tiling", "layer")


def claim_of(problem: TilingProblem, mapping: TilingMapping, bound: float | None = None) -> Document:
    """The proof that would be of a claim that a mapping is the best one, or that ``bound`` holds."""
    claim = Claim("optimal" if bound is None else "bounded", mapping, 0, bound)
    return prove(problem, claim, Effort()).to_json("tiling", "layer")


def bound_again(document: Document) -> Document:
    """The document with the hash of the problem that it holds."""
    return {**document, "problem_sha256": digest(document["problem"])}


def holds(document: Mapping[str, Any]) -> bool | None:
    """Whether a claim is true of the problem that its document states; None if mapper reads no such problem."""
    try:
        problem = _posed(document["problem"])
    except InputError:
        return None
    every = (mapping for one in every_bound(problem) for mapping in mappings(one.as_it_is()))
    grown = (mapping.over(problem.nest.trip_counts) for mapping in every)
    rows = (mapping for mapping in grown if not verify(problem, mapping).broken)
    values = [value for mapping in rows if (value := _value(problem, mapping)) is not None]
    claim = document["claim"]
    if claim["status"] == "infeasible":
        return not values
    mapping = tiling_from_json(
        document["evidence"]["mapping"], problem.nest, "proof", problem.machine.rules.array_axes
    )
    value, bound = Fraction(claim["value"]), Fraction(claim["bound"])
    if verify(problem, mapping).broken or _value(problem, mapping) != value or bound > min(values):
        return False
    return claim["status"] == "bounded" or bound == value


def every_bound(problem: TilingProblem) -> Iterator[TilingProblem]:
    """The problem of every choice of bounds, one where there is none."""
    ranges = problem.padding.ranges
    for sizes in itertools.product(*(range(least, most + 1) for _, least, most in ranges)):
        fixed = tuple((loop, size, size) for (loop, _, _), size in zip(ranges, sizes, strict=True))
        yield replace(problem, padding=Padding(fixed))


def _value(problem: TilingProblem, mapping: TilingMapping) -> Fraction | None:
    cost = verify(problem, mapping).cost
    return None if cost is None else problem.exact_value(cost)


def _posed(fields: Mapping[str, Any]) -> TilingProblem:
    loops, factors = fields["loops"], fields["factors"]
    operands = tuple(
        Operand(
            operand["name"],
            tuple(
                AffineIndex(tuple((loop, f) for loop, f in index.items() if f)) for index in operand["index"]
            ),
            operand["access"],
            tuple(operand["extents"]),
            operand["zero_initialised"],
        )
        for operand in fields["operands"]
    )
    nest = LoopNest("posed", tuple(loops.items()), operands, fields["operation"])
    objective: Objective = next(name for name, text in OBJECTIVES.items() if text == fields["objective"])
    orders = tuple((level, tuple(names)) for level, names in fields["innermost"].items() if names)
    most, axes = fields.get("most_cycles"), fields.get("axes", ())
    machine = _machine(fields["machine"], axes)
    pins = tuple(
        (axis, frozenset(along["must"]), len(along["may"]) == len(loops))
        for sides in axes
        for axis, along in sides.items()
    )
    growing = fields.get("growing", {})
    grown = Padding(tuple((loop, loops[loop], 2 * loops[loop] - 1) for loop in growing))
    return TilingProblem(nest, machine, objective, _Allowed(factors, growing, orders, pins), most, grown)


class _Allowed(Pins):
    """Pins that allow just what a document lists."""

    def __init__(
        self,
        factors: Mapping[str, Any],
        growing: Mapping[str, Any],
        orders: tuple[tuple[str, tuple[str, ...]], ...],
        axes: tuple[tuple[str, frozenset[str], bool], ...],
    ) -> None:
        super().__init__(orders=orders, axes=axes)
        object.__setattr__(self, "listed", factors)
        object.__setattr__(self, "growing", growing)

    def allows(self, loop: str, level: str, factor: int) -> bool:
        listed, growing = vars(self)["listed"][level], vars(self)["growing"]
        if loop in growing:
            return bool(growing[loop][level]["least"] <= factor <= growing[loop][level]["most"])
        return loop not in listed or factor in listed[loop]


def _machine(fields: Mapping[str, Any], axes: Sequence[Mapping[str, Any]]) -> DataflowMachine:
    """``axes``: of the array, where it tells them apart."""
    decimal = {name: float(Fraction(value)) for name, value in fields["energy_pj"].items()}
    document = machine_fields(fields["rows"], fields["columns"], fields["rf_bytes"])
    document["word_bytes"] = fields["word_bytes"]
    document["pe_array"] |= {
        "pipelined": fields["pipelined"],
        "latency_cycles": {"multiply": fields["multiply_cycles"], "add": fields["add_cycles"]},
    }
    document["rf"]["double_buffered"] = fields["rf_double_buffered"]
    document["spm"] = {
        "bytes": fields["spm_bytes"],
        "bank_bytes": fields["bank_bytes"],
        "double_buffered": fields["spm_double_buffered"],
    }
    document["noc"] = {"networks": fields["networks"], "reduction": fields["reduction"]}
    for sides in axes:
        document["pe_array"]["spatial_reduction"] = [axis for axis, along in sides.items() if along["sums"]]
    document["dma"] = {
        "initiation_cycles": float(Fraction(fields["initiation_cycles"])),
        "cycles_per_byte": float(Fraction(fields["cycles_per_byte"])),
        "clock_mhz": float(Fraction(fields["dma_clock_mhz"])),
    }
    document["clock_mhz"] = float(Fraction(fields["clock_mhz"]))
    document["energy_pj"] = decimal
    document["rules"] = {
        name: fields[name] for name in ("stored_extent", "partial_sums", "leaving_sums", "energy")
    } | {"array_axes": bool(axes)}
    return dataflow_from_document(document, "posed machine")
