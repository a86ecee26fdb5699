"""Proofs of small partitions, what the checker says of them, and an oracle that costs every option."""

from __future__ import annotations

import importlib.util
import json
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

from mapper.formulations.trace_partition.problem import PartitionProblem, Pin
from mapper.models.trace_partition.mapping import LayerMapping
from mapper.solver.method import Effort
from mapper.solver.proof import Claim
from mapper.solver.trace_partition.catalogue import METHODS
from mapper.solver.trace_partition.proof import problem_document, prove
from tests.solver.trace_partition.random_partition import ONE, layer, machine, network, view

CHECKER = Path(__file__).parents[3] / "checkers" / "check_trace_partition.py"
Document = dict[str, Any]


@cache
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_trace_partition", CHECKER)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def verdict_on(document: Document) -> tuple[str, str]:
    _, status, reason = module().verdict(json.loads(json.dumps(document)))
    return status, reason


def proof_of(problem: PartitionProblem) -> Document:
    found = METHODS["dynamic-programming"].search(problem, Effort())
    assert found.proven
    status = "infeasible" if found.mapping is None else "optimal"
    claim = Claim(status, found.mapping, found.value, found.bound)  # type: ignore[arg-type]
    return prove(problem, claim, Effort()).to_json("trace_partition", "network")


def posed_example(objective: str = "traffic") -> PartitionProblem:
    """Two layers whose maps may stay."""
    first = layer("first", view("image", 4, 4, 16), 16)
    second = layer("second", first.output, 16)
    pins = {
        one.name: Pin(order="maps_stationary", columns=4, in_channels=16, out_channels=16)
        for one in (first, second)
    }
    return PartitionProblem(network(first, second), machine(), ONE, objective, pins)  # type: ignore[arg-type]


@cache
def example(objective: str = "traffic") -> Document:
    return proof_of(posed_example(objective))


def restated(problem: Document) -> tuple[Any, list[Any]]:
    """The machine and the layers of a document, as the checker reads them."""
    own = module()
    read = json.loads(json.dumps(problem))
    return own.Machine(own.read(read["machine"], own.MACHINE), read["objective"]), own.layers_of(
        read["layers"]
    )


def of_network(problem: PartitionProblem) -> tuple[Any, dict[str, Any]]:
    """The machine, and every layer by its name."""
    document = problem_document(problem)
    found = {}
    for one in document["layers"]:
        own, (layer,) = restated({**document, "layers": [one]})
        found[one["name"]] = layer
    return own, found


def option(mapping: LayerMapping) -> Any:
    """A mapping in the checker's words."""
    tile = mapping.tile
    own = (mapping.mode, mapping.order, mapping.unit_split, mapping.cluster_split)
    stays = mapping.input_resident, mapping.output_resident
    return module().Option(*own, *stays, tile.rows, tile.columns, tile.in_channels, tile.out_channels)


def least(problem: Document) -> Fraction | None:
    """What the best partition of a document costs, by costing every option; without floors or potentials."""
    own = module()
    machine, layers = restated(problem)
    befores = [False, *(layer.may_stay for layer in layers)]
    paid: dict[Any, int] = {}
    families: dict[Any, Any] = {}
    for at, (here, before) in enumerate(zip(layers, befores, strict=False)):
        ways = own.residencies(here, machine, before)
        now = {}
        for residency, group in ways.items():
            ends = [
                cost
                for other, cost in paid.items()
                if own.agree(
                    layers[at - 1], families[other][0].largest, here, group[0].largest, machine.sharing
                )
            ]
            costs = [_value(here, one, machine) for family in group for one in _options(family)]
            known = [cost for cost in costs if cost is not None]
            if known and (ends or not at):
                now[residency] = min(known) + min(ends, default=0)
        paid, families = now, ways
    parts = problem["machine"]["per_pj"] if problem["objective"] == "energy" else 1
    return Fraction(min(paid.values()), parts) if paid else None


def _options(family: Any) -> list[Any]:
    return [module().Option(*family.decisions, *sizes) for sizes in product(*family.sizes)]


def _value(layer: Any, one: Any, machine: Any) -> int | None:
    paid = module().cost(layer, one, machine)
    return None if paid is None else int(machine.value(layer, *paid))
