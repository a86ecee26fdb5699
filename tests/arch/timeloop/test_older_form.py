"""Forms of Timeloop's files that are older, or rarely seen: nothing that they say is dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from mapper.arch.hierarchy import HierarchyMachine
from mapper.arch.source import load_machine_files
from mapper.workloads.document import InputError

DIANNAO = """
architecture:
  version: 0.2
  subtree:
  - name: chip
    local:
    - {name: DRAM, class: DRAM, attributes: {instances: 1, word_bits: 16}}
    - {name: sums, class: regfile, attributes: {entries: 1, instances: 16, meshX: 16, word_bits: 16}}
    - {name: weights, class: regfile, attributes: {entries: 64, instances: 256, meshY: 16, word_bits: 16}}
    - {name: MACs, class: intmac, attributes: {instances: 256, meshX: 16, meshY: 16}}
"""
MAPSPACE = """
mapspace:
  template: uber
  targets:
  - name: sums
    constraints:
    - type: bypassing
      attributes: {keep: [Outputs], bypass: [Inputs, Weights]}
    - type: temporal
      attributes: {factors: N=1 K=1, permutation: NCRS KQP}
"""


def read(tmp_path: Path, *texts: str) -> HierarchyMachine:
    paths = []
    for place, text in enumerate(texts):
        path = tmp_path / f"file{place}.yaml"
        path.write_text(text)
        paths.append(str(path))
    machine, _ = load_machine_files("+".join(paths))
    assert isinstance(machine, HierarchyMachine)
    return machine


def test_attributes_say_how_many_instances_there_are_and_how_they_lie(tmp_path: Path) -> None:
    machine = read(tmp_path, DIANNAO)
    assert [(one.fanout.x, one.fanout.y) for one in machine.levels] == [(16, 1), (1, 16), (1, 1)]
    assert not machine.passed_over


def test_a_mapspace_holds_constraints_grouped_by_level_with_attributes(tmp_path: Path) -> None:
    for machine in (read(tmp_path, DIANNAO, MAPSPACE), read(tmp_path, DIANNAO + MAPSPACE)):
        (own,) = machine.constraints
        assert (own.level, own.kind, own.factors) == ("sums", "temporal", {"N": 1, "K": 1})
        assert own.permutation == ["N", "C", "R", "S", "K", "Q", "P"]
        assert machine.levels[1].keep == ["Outputs"]
        assert machine.levels[1].bypass == ["Inputs", "Weights"]


def test_constraints_inside_the_architecture_hold(tmp_path: Path) -> None:
    inside = DIANNAO + "  constraints: [{target: DRAM, type: temporal, factors: N=1}]\n"
    assert [(one.level, one.factors) for one in read(tmp_path, inside).constraints] == [("DRAM", {"N": 1})]


@pytest.mark.parametrize(
    ("old", "new", "field", "remedy"),
    [
        ("template: uber", "template: ruby", "template", "factors=imperfect"),
        ("  targets:", "  prune: yes\n  targets:", "prune", "remove it"),
        ("NCRS KQP", "NC_KQP", "constraints of sums.permutation", "after _"),
        ("instances: 16,", "instances: 24,", "sums.meshX", "divides no 24"),
        ("meshX: 16, meshY: 16", "meshX: 16, meshY: 8", "MACs.meshY", "are no 256"),
        ("class: DRAM,", "class: DRAM, sparse_optimizations: {},", "DRAM.sparse_optimizations", "remove it"),
        ("class: DRAM,", "class: DRAM, enabled: false,", "DRAM.enabled", "remove"),
        ("architecture:\n", "arch: {storage: []}\narchitecture:\n", "arch", "before 0.2"),
    ],
)
def test_what_cannot_be_represented_is_named(
    tmp_path: Path, old: str, new: str, field: str, remedy: str
) -> None:
    assert old in DIANNAO + MAPSPACE
    with pytest.raises(InputError) as caught:
        read(tmp_path, DIANNAO.replace(old, new) + MAPSPACE.replace(old, new))
    assert caught.value.field == field
    assert remedy in str(caught.value)


def test_a_file_from_before_version_0_2_is_not_taken_for_one_of_another_tool(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"version before 0\.2"):
        read(tmp_path, "arch:\n  storage: [{name: buffer, entries: 16}]\n  arithmetic: {instances: 4}\n")


def test_instances_of_version_0_4_are_those_of_its_meshes(tmp_path: Path) -> None:
    new = """
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {width: 64, datawidth: 8}}
  - !Component {name: mac, class: intmac, spatial: {meshX: 4}, attributes: {meshX: 4}}
"""
    assert read(tmp_path, new).levels[1].fanout.x == 4
    with pytest.raises(InputError, match="is 4 by spatial"):
        read(tmp_path, new.replace("attributes: {meshX: 4}", "attributes: {meshX: 8}"))
