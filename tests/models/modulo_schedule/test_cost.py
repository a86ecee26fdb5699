"""Cost and documents of modulo schedules."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from mapper.arch.cgra import CgraMachine, cgra_from_document
from mapper.arch.cgra_preset import cgra_preset
from mapper.models.modulo_schedule.cost import evaluate
from mapper.models.modulo_schedule.mapping import Hop, ModuloSchedule, Placement, Route
from mapper.models.modulo_schedule.mapping_file import schedule_from_json
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import DataflowGraph, Edge, Operation
from mapper.workloads.graph.kernel import Kernel

KERNEL = Kernel(
    "body",
    DataflowGraph(
        "body", (Operation("a", "add"), Operation("b", "sub")), (Edge(0, 1, 0), Edge(1, 0, None, 1))
    ),
    trip_count=1000,
)
SCHEDULE = ModuloSchedule(
    2,
    (Placement((0, 0), 0), Placement((0, 2), 2)),
    (Route(0, (Hop((0, 0), 1, "register", 3), Hop((0, 1), 2, "move"))), Route(1, ())),
)

ENERGY = {
    "operations": 2000 * 0.051, "routes": 2000 * 4.655, "registers": 1000 * 2.328, "memory": 0,
    "configuration": 2002 * 16 * 2.328, "vliw": 0, "static": 0.015 * 2002 / 500e6 * 1e12,
}  # fmt: skip
"""An addition and a subtraction, each result read from a neighbour (one by a move), one written into a register."""


def machine(name: str) -> CgraMachine:
    return cgra_from_document(cgra_preset(name) or {}, name)


def document() -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(json.dumps(SCHEDULE.to_json(("a", "b"), ((0, 1, 0), (1, 0, 1)))))
    return fields


def test_cycles_are_the_papers() -> None:
    cost = evaluate(KERNEL, machine("srp-4x4"), SCHEDULE)
    assert cost.cost_json() == {
        "ii": 2, "mii": 2, "res_mii": 1, "rec_mii": 2, "stages": 2, "cycles": 1000 * 2 + (2 - 1) * 2,
        "latency_ms": 2002 / 500e3, "energy_pj": pytest.approx(sum(ENERGY.values())),
    }  # fmt: skip
    assert cost.breakdown_json() == {
        "cycles": {"kernel": 2000, "fill": 2}, "bytes": {},
        "energy_pj": {cause: pytest.approx(energy) for cause, energy in ENERGY.items()},
        "power_times_time_pj": pytest.approx(0.15 * 2002 / 500e6 * 1e12),
    }  # fmt: skip


def test_what_is_undefined_is_none() -> None:
    unclocked = evaluate(KERNEL, machine("mesh-4x4"), SCHEDULE).cost_json()
    assert unclocked["cycles"] == 2002
    assert unclocked["latency_ms"] is unclocked["energy_pj"] is None
    uncounted = evaluate(replace(KERNEL, trip_count=None), machine("srp-4x4"), SCHEDULE).cost_json()
    assert uncounted["cycles"] is uncounted["latency_ms"] is uncounted["energy_pj"] is None


def test_a_document_reads_back_as_the_schedule() -> None:
    assert schedule_from_json(document(), KERNEL, "s.json") == SCHEDULE


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("ii",), 0, "ii"),
        (("ii",), True, "ii"),
        (("stages",), 5, "stages"),
        (("colour",), 1, "colour"),
        (("schedule", "c"), {"pe": [0, 0], "time": 0}, "schedule.c"),
        (("schedule", "a", "time"), 0.5, "schedule.a.time"),
        (("schedule", "a", "pe"), [0], "schedule.a.pe"),
        (("schedule", "a", "pe"), [0, 10**40], "schedule.a.pe"),
        (("routes", 0, "edge"), 2, "edge"),
        (("routes", 0, "edge"), -1, "edge"),
        (("routes", 0, "to"), "a", "to"),
        (("routes", 0, "distance"), 1, "distance"),
        (("routes", 0, "hops", 0, "via"), "magic", "via"),
        (("routes", 0, "hops", 0, "size"), 1, "size"),
        (("routes", 0, "hops"), None, "hops"),
    ],
)
def test_a_wrong_field_is_named(path: tuple[str | int, ...], value: object, named: str) -> None:
    fields = document()
    place: Any = fields
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(InputError, match=r"s\.json") as refused:
        schedule_from_json(fields, KERNEL, "s.json")
    assert named in str(refused.value)


@pytest.mark.parametrize(
    "path",
    [("ii",), ("routes",), ("schedule", "b"), ("routes", 0, "from"), ("routes", 0, "hops", 1, "register")],
)
def test_a_missing_field_is_named(path: tuple[str | int, ...]) -> None:
    fields = document()
    place: Any = fields
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    with pytest.raises(InputError, match=str(path[-1])):
        schedule_from_json(fields, KERNEL, "s.json")
