"""Mappings from documents, from Timeloop's directives and from their one-line form."""

from __future__ import annotations

from typing import Any

import pytest

from bench.hierarchy.gemmini import mapped, rows
from mapper.models.hierarchy.cost import evaluate
from mapper.models.hierarchy.mapping_file import hierarchy_mapping
from mapper.models.hierarchy.one_line import line_of, mapping_from_line
from mapper.models.hierarchy.timeloop_mapping import timeloop_document
from mapper.workloads.document import InputError

NEST, MACHINE, MAPPING = mapped(rows()[700])


def test_every_form_says_the_same_mapping() -> None:
    for fields in (MAPPING.to_json(), timeloop_document(MAPPING, NEST), {"line": line_of(MAPPING, NEST)}):
        read = hierarchy_mapping(fields, NEST, MACHINE, "test")
        assert read.to_json() == MAPPING.to_json()


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
