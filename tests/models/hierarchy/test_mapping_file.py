"""Mappings from documents, from Timeloop's directives and from their one-line form."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from bench.hierarchy.gemmini import mapped, rows
from mapper.arch.hierarchy import hierarchy_from_document
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping_file import hierarchy_mapping
from mapper.models.hierarchy.one_line import line_of, mapping_from_line
from mapper.models.hierarchy.timeloop_mapping import timeloop_document, timeloop_text
from mapper.workloads.document import InputError
from mapper.workloads.nest.nest_file import nest_from_document

NEST, MACHINE, MAPPING = mapped(rows()[700])


def test_every_form_says_the_same_mapping() -> None:
    for fields in (MAPPING.to_json(), timeloop_document(MAPPING, NEST), {"line": line_of(MAPPING, NEST)}):
        read = hierarchy_mapping(fields, NEST, MACHINE, "test")
        assert read.to_json() == MAPPING.to_json()


ODD_NEST = nest_from_document(
    {
        "schema": "mapper.nest/1",
        "name": "odd",
        "loops": {"a0": 16, "b_1": 12, "kX": 10, "R": 3},
        "operands": [
            {"tensor": "W", "index": ["a0", "b_1"], "access": "read_write"},
            {"tensor": "x1", "index": ["a0", "kX + 2*R"]},
            {"tensor": "Y_2", "index": ["kX", "R", "b_1"]},
        ],
    },
    "test",
)
ODD_MACHINE = hierarchy_from_document(
    {
        "schema": "mapper.hierarchy/1",
        "name": "odd",
        "levels": [
            {"name": "main memory", "fanout": {"x": 2, "y": 3}},
            {"name": "L2.global", "fanout": {"x": 4, "y": 2}},
            {"name": "inter_PE_spatial"},
        ],
    },
    "test",
)
ODD_MAPPING = hierarchy_mapping(
    {
        "levels": [
            {
                "level": "main memory",
                "keep": ["W", "x1", "Y_2"],
                "temporal": [["kX", 10]],
                "spatial": [["b_1", 3, "y"], ["a0", 2, "x"]],
            },
            {"level": "L2.global", "keep": [], "temporal": [], "spatial": [["a0", 2, "y"], ["a0", 4, "x"]]},
            {
                "level": "inter_PE_spatial",
                "keep": ["W", "x1"],
                "temporal": [["R", 3], ["b_1", 4]],
                "spatial": [],
            },
        ]
    },
    ODD_NEST,
    ODD_MACHINE,
    "test",
)


def test_a_loop_along_both_axes_and_odd_names_survive_every_form() -> None:
    line = line_of(ODD_MAPPING, ODD_NEST)
    assert line == "L2[W,x1,Y_2] kX10 K3Y N2X - L1[] N1 N2Y N4X - L0[W,x1] R3 K4"
    for fields in ({"line": line}, yaml.safe_load(timeloop_text(ODD_MAPPING, ODD_NEST))):
        assert hierarchy_mapping(fields, ODD_NEST, ODD_MACHINE, "test") == ODD_MAPPING


def test_a_mapping_file_says_what_timeloop_does_not_read_of_it() -> None:
    remark = timeloop_text(ODD_MAPPING, ODD_NEST).splitlines()[0]
    assert remark == (
        "# L2.global: a loop along both X and Y takes two spatial directives, which Timeloop does not read"
    )
    assert not timeloop_text(MAPPING, NEST).startswith("#")


def test_names_with_digits_take_an_equals_sign_in_a_line() -> None:
    loops = {"k0": 4, "k1": 6, "k2": 5}
    operands = [
        {"tensor": "x1", "index": ["k0", "k1", "k2"]},
        {"tensor": "y", "index": ["k0"], "access": "read_write"},
    ]
    nest = nest_from_document(
        {"schema": "mapper.nest/1", "name": "n", "loops": loops, "operands": operands}, "test"
    )
    line = "L2[x1,y] k1=6 k2=5 - L1[] N1 - L0[x1] N4"
    assert line_of(mapping_from_line(line, nest, ODD_MACHINE, "test"), nest) == line


def test_a_line_reads_back_as_written() -> None:
    line = "L3[WIO] P15 K8 - L2[WI] N1 K2X - L1[O] R3 C4X - L0[W] Q2"
    assert line_of(mapping_from_line(line, NEST, MACHINE, "test"), NEST) == line


def test_a_factor_of_zero_takes_what_is_left() -> None:
    directives: list[dict[str, Any]] = [
        {"target": "DRAM", "type": "temporal", "factors": "K=0 C=0 P=0 Q=0 R=0 S=0"}
    ]
    read = hierarchy_mapping({"mapping": directives}, NEST, MACHINE, "test")
    assert {one.loop: one.trips for one in read.levels[0].temporal} == {
        loop: bound for loop, bound in NEST.bounds if bound > 1
    }


def test_the_first_loops_of_a_spatial_permutation_lie_along_x() -> None:
    directives = [
        {"target": "DRAM", "type": "temporal", "factors": "K=0 C=0 P=0 Q=0 R=0 S=0"},
        {"target": "scratchpad", "type": "spatial", "factors": "K=2 C=2", "permutation": "CK", "split": 1},
    ]
    read = hierarchy_mapping({"mapping": directives}, NEST, MACHINE, "test")
    assert [one.to_json() for one in read.levels[1].spatial] == [["K", 2, "y"], ["C", 2, "x"]]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"levels": []}, "must list 4 levels"),
        ({"levels": [], "extra": 1}, "unknown key"),
        ({"mapping": [{"target": "nowhere", "type": "temporal"}]}, "is none of"),
        ({"mapping": [{"target": "DRAM", "type": "sparse"}]}, "is not temporal, spatial or dataspace"),
        ({"mapping": [{"target": "DRAM", "type": "temporal", "factors": "K=two"}]}, "no list of factors"),
        ({"mapping": [{"target": "DRAM", "type": "temporal"}] * 2}, "is temporal twice"),
        ({"mapping": [{"target": "DRAM", "type": "temporal", "factors": "K=2 K=4"}]}, "K has two factors"),
        ({"line": "L3[WIO] P15"}, "has 1 levels"),
        ({"line": "L3[WIO] Z15 - L2[WI] N1 - L1[O] N1 - L0[W] N1"}, "names 0 loops"),
        ({"line": "L3[WIB] P15 - L2[WI] N1 - L1[O] N1 - L0[W] N1"}, "is no tensor"),
    ],
)
def test_what_is_no_mapping_is_one_line(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        hierarchy_mapping(fields, NEST, MACHINE, "test")


def test_the_tile_of_a_level_is_what_its_loops_touch() -> None:
    cost = evaluate(NEST, MACHINE, MAPPING)
    assert cost.tiles["DRAM"]["O"] == NEST.operands[2].words(NEST.trip_counts)
    assert cost.utilisation == NEST.iterations / (MACHINE.units * cost.cycles)
