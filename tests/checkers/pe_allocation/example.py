"""Problems, their proofs as documents, and the checker, for the tests beside."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from mapper.arch.tcpa import TcpaMachine, tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.problem import AllocationProblem, Pin
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.stream.layer import StreamLayer, StreamNetwork, stream_network
from mapper.models.pe_allocation.stream.pipeline import stages
from mapper.solver.method import Effort
from mapper.solver.outcome import Outcome
from mapper.solver.pe_allocation.mixed.catalogue import MIXED
from mapper.solver.pe_allocation.parallel.constraint_program import CONSTRAINT_PROGRAM
from mapper.solver.pe_allocation.parallel.sequential_search import sequential
from mapper.solver.pe_allocation.proof import prove
from mapper.solver.proof import Claim, digest
from mapper.workloads.document import InputError
from mapper.workloads.source import load_layers

CHECKER = Path(__file__).parents[3] / "checkers" / "check_pe_allocation.py"
Document = dict[str, Any]
UNPLACED = ", without its places"
"""What the checker says of an answer that stands nowhere."""


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_pe_allocation", CHECKER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MODULE = _loaded()


def verdict_on(document: Any) -> tuple[str, str]:
    """Status and reason, of the document as it is read back."""
    _, status, reason = MODULE.verdict(json.loads(json.dumps(document)))
    return status, reason


def machine(pes: int) -> TcpaMachine:
    document = tcpa_preset("tcpa-1x1")
    assert document is not None
    return tcpa_from_document({**document, "columns": pes}, "row")


def problem_of(network: str, array: str, objective: str, **options: Any) -> AllocationProblem:
    document = tcpa_preset(array)
    assert document is not None
    layers = stream_network(load_layers(network, None))
    return AllocationProblem(layers, tcpa_from_document(document, array), objective, **options)  # type: ignore[arg-type]


def claim_of(found: Outcome[Allocation]) -> Claim[Allocation]:
    if not found.proven:
        return Claim("bounded", found.mapping, found.value, found.bound)
    status = "infeasible" if found.mapping is None else "optimal"
    return Claim(status, found.mapping, found.value, found.bound)  # type: ignore[arg-type]


def solved(problem: AllocationProblem) -> Outcome[Allocation]:
    """What the exact search says; nothing is placed, which no claim is about."""
    if problem.mode == "mixed":
        return MIXED["auto"](problem, Effort())
    if problem.mode == "layer-by-layer":
        return sequential(problem, Effort())
    return CONSTRAINT_PROGRAM.search(problem, Effort())


def proof_of(problem: AllocationProblem, found: Outcome[Allocation] | None = None) -> Document:
    """The document that shows what ``found`` claims.

    Raises: NotCertifiedError.
    """
    found = found or solved(problem)
    return prove(problem, claim_of(found), Effort()).to_json("pe_allocation", "network")


def bound_again(document: Document) -> Document:
    """The document with the hash of the problem that it has now."""
    return {**document, "problem_sha256": digest(document["problem"])}


def posed(document: Mapping[str, Any]) -> AllocationProblem:
    """The problem that a document holds.

    Raises: InputError if other operations or programs than plain ones are asked for.
    """
    layers = tuple(_layer(number, one) for number, one in enumerate(document["layers"]))
    units = {one["operation"]: one["units"] for one in document["layers"]}
    base = tcpa_preset("tcpa-1x1")
    assert base is not None
    fields = {
        **base,
        "rows": 1024,
        "columns": 1024,
        "functional_units": {**base["functional_units"], **units},
        "clock_mhz": document["clock_hz"] / 1e6,
        "word_bytes": document["word_bytes"],
    }
    fields["processing_element"] = {"latency": document["unit_latency"]}
    for layer, one in zip(layers, document["layers"], strict=True):
        if one["stages"] != dict(Counter(stages(layer, one["units"]))) or one["unfit"]:
            raise InputError("document", layer.name, "has other operations than plain ones")
    return AllocationProblem(
        StreamNetwork("network", layers, ()),
        tcpa_from_document(fields, "document"),
        document["objective"],
        document["model"],
        document["mode"],
        document["interval"],
        document["pes"],
        document["bytes"],
        document["sharing"],
        document["free_units"],
        {
            str(number): Pin(one["pin"]["pes"], one["pin"]["units"], one["pin"]["idle"])
            for number, one in enumerate(document["layers"])
        },
        None if document["segments"] is None else tuple(document["segments"]),
    )


def _layer(number: int, one: Mapping[str, Any]) -> StreamLayer:
    def pair(name: str) -> tuple[int, int]:
        return one[name][0], one[name][1]

    return StreamLayer(
        str(number), "", one["operation"], one["filters"], one["depth"], pair("size"), pair("output_size"),
        pair("kernel"), pair("strides"), pair("dilations"), pair("pads"), one["channels"], one["maps"], one["groups"],
        tuple(one["feeds"]), 0,
    )  # fmt: skip
