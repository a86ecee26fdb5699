"""The files of configuration words: complete, readable, and read back strictly."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from mapper.codegen.modulo_schedule import generate, read_configuration
from mapper.models.modulo_schedule.configuration.assembly import assemble
from mapper.models.modulo_schedule.mapping import ModuloSchedule, Route
from mapper.workloads.document import InputError
from mapper.workloads.graph.dataflow_graph import Edge, Operation
from tests.sim.modulo_schedule.example import (
    accumulate,
    array_of,
    kernel_of,
    late_load,
    predicated_store,
    recurrence_of_two,
    result,
    routed_over_a_neighbour,
    through_a_shared_file,
)


def document() -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(generate(*accumulate())["configuration.json"])
    return fields


def word(fields: dict[str, Any], operation: str | None) -> dict[str, Any]:
    found: dict[str, Any] = next(word for word in fields["words"] if word["operation"] == operation)
    return found


@pytest.mark.parametrize(
    "example",
    [
        accumulate,
        late_load,
        predicated_store,
        recurrence_of_two,
        routed_over_a_neighbour,
        through_a_shared_file,
    ],
)
def test_what_is_written_is_read_back_equal(example: Any) -> None:
    files = generate(*example())
    read = read_configuration(json.loads(files["configuration.json"]), "configuration.json")
    assert read == assemble(*example())


def test_the_words_say_where_an_operand_comes_from_in_the_first_iterations_and_after() -> None:
    carried = {"from": "register", "position": 1, "register": 1, "initial": [7]}
    assert word(document(), "sum")["operands"] == [
        {"from": "output", "position": 0, "pe": [0, 1], "initial": []},
        carried,
    ]


def test_a_move_reads_a_register_and_writes_another() -> None:
    moved = word(document(), None)
    assert (moved["pe"], moved["slot"], moved["stage"], moved["registers"]) == ([0, 0], 2, 0, [2])
    assert moved["operands"][0]["register"] == 0


def test_a_store_is_in_the_stage_of_its_issue() -> None:
    stored = word(document(), "y_i")
    assert (stored["slot"], stored["stage"], stored["array"]) == (1, 1, "y")


def test_the_predicate_of_a_store_stands_apart() -> None:
    stored = word(json.loads(generate(*predicated_store())["configuration.json"]), "y_i")
    assert len(stored["operands"]) == 2
    assert stored["predicate"] == {"from": "output", "position": 2, "pe": [1, 0], "initial": []}


@pytest.mark.parametrize("shift", [-3, 0, 7])
def test_the_first_issue_lies_in_stage_0_wherever_the_times_begin(shift: int) -> None:
    kernel, machine, schedule = routed_over_a_neighbour()
    placements = tuple(replace(placement, time=placement.time + shift) for placement in schedule.placements)
    hops = tuple(replace(hop, time=hop.time + shift) for hop in schedule.routes[0].hops)
    shifted = ModuloSchedule(schedule.ii, placements, (Route(0, hops),))
    stages = {part.operation: part.stage for part in assemble(kernel, machine, shifted).words}
    assert stages == {"a": 0, None: 1, "b": 2}


def test_the_listing_has_a_line_for_every_word() -> None:
    listing = generate(*accumulate())["listing.txt"]
    lines = [line for line in listing.splitlines() if " @S" in line and not line.startswith(";")]
    assert len(lines) == 5
    assert any("load x" in line and "OUT[0,0]" in line and "+1" in line for line in lines)
    assert any("{7} R1" in line for line in lines)


def test_the_listing_tells_shared_registers_from_own_ones() -> None:
    listing = generate(*through_a_shared_file())["listing.txt"]
    assert "sk is register k of the shared file" in listing
    assert any("OUT+s0" in line and "; i" in line for line in listing.splitlines())
    assert any("<- s0, s1" in line for line in listing.splitlines())
    assert "shared" not in generate(*accumulate())["listing.txt"]


def test_the_picture_is_xml_that_names_every_operation() -> None:
    root = ElementTree.fromstring(generate(*accumulate())["schedule.svg"])
    texts = {element.text for element in root.iter()}
    assert {"i", "x_i", "sum", "y_i", "move"} <= texts


def test_names_cannot_break_the_listing_or_the_picture() -> None:
    kernel, machine, schedule = accumulate()
    operations = (Operation("<i>\n&", "add", ((1, 1),)), *kernel.graph.operations[1:])
    files = generate(kernel_of(operations, kernel.graph.edges), machine, schedule)
    ElementTree.fromstring(files["schedule.svg"])
    assert "; <i>?&\n" in files["listing.txt"]


def test_infinite_initial_values_survive_json() -> None:
    kernel = kernel_of((Operation("m", "fmax", ((1, 0.5),)),), (Edge(0, 0, 0, 1, initial=(float("-inf"),)),))
    schedule = ModuloSchedule(1, accumulate()[2].placements[:1], (Route(0, (result((0, 0), 1),)),))
    fields = json.loads(generate(kernel, array_of(1, 1), schedule)["configuration.json"])
    assert fields["words"][0]["operands"][0]["initial"] == ["-inf"]
    assert read_configuration(fields, "test").words[0].operands[0].initial == (float("-inf"),)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"schema": "mapper.cgra-configuration/2"}, "schema"),
        ({"ii": 0}, "ii"),
        ({"ii": "3"}, "ii"),
        ({"stages": 1}, "stage"),
        ({"speed": 3}, "speed"),
        ({"words": None}, "words"),
    ],
)
def test_a_broken_document_is_one_line_that_names_the_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=field):
        read_configuration(document() | change, "configuration.json")


@pytest.mark.parametrize(
    "change",
    [
        {"slot": 3},
        {"slot": True},
        {"latency": -1},
        {"operands": [{"from": "bus"}]},
        {"pe": [0, -1]},
        {"x": 1},
    ],
)
def test_a_broken_word_is_refused(change: dict[str, Any]) -> None:
    fields = document()
    fields["words"][0] |= change
    with pytest.raises(InputError, match=r"configuration\.json"):
        read_configuration(fields, "configuration.json")


def test_an_operand_without_a_route_is_refused() -> None:
    kernel, machine, schedule = accumulate()
    bare = ModuloSchedule(schedule.ii, schedule.placements, schedule.routes[1:])
    with pytest.raises(InputError, match="edge 0"):
        generate(kernel, machine, bare)
