"""Machines and problems from Timeloop's files: what they become, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from mapper.arch.hierarchy import HierarchyMachine
from mapper.arch.source import load_machine_files, preset_text
from mapper.workloads.document import InputError
from mapper.workloads.source import load_network

NEW = """
architecture:
  version: 0.4
  nodes:
  - !Container
    name: system
    attributes: {global_cycle_seconds: 1e-9, datawidth: 8}
  - !Component
    name: DRAM
    class: DRAM
    attributes: {width: 64}
  - !Component
    name: buffer
    class: SRAM
    attributes: {depth: 16*64, width: 32, read_bandwidth: 4}
    constraints:
      dataspace: {keep: [Inputs, Outputs], bypass: [Weights]}
  - !Container
    name: PE
    spatial: {meshX: 4, meshY: 2}
    constraints:
      spatial: {permutation: [C, M], split: 1, factors: [R=1, P<=2]}
  - !Parallel
    nodes:
    - !Component
      name: weights
      class: regfile
      attributes: {depth: 12, width: 16}
      constraints:
        dataspace: {keep: [Weights]}
    - !Component
      name: sums
      class: regfile
      attributes: {depth: 4, width: 8}
      constraints:
        dataspace: {keep: [Outputs]}
  - !Component
    name: mac
    class: intmac
"""
OLD = """
architecture:
  version: 0.3
  subtree:
  - name: system
    local:
    - {name: DRAM, class: DRAM, attributes: {word-bits: 16, block-size: 4, width: 64}}
    subtree:
    - name: chip
      local:
      - {name: buffer, class: SRAM, attributes: {entries: 512, word-bits: 16, meshX: 1}}
      subtree:
      - name: PE[0..7]
        local:
        - {name: registers, class: regfile, attributes: {depth: 16, width: 16, word-bits: 16, meshX: 4}}
        - {name: mac, class: intmac, attributes: {meshX: 4}}
"""
PROBLEM = """
problem:
  shape:
    name: row
    dimensions: [K, P, R, N]
    coefficients: [{name: stride, default: 1}]
    data_spaces:
    - {name: Weights, projection: [[[K]], [[R]]]}
    - {name: Inputs, projection: [[[R], [P, stride]]]}
    - {name: Outputs, projection: [[[K]], [[P]]], read_write: true}
  instance: {K: 4, P: 6, R: 3, N: 1, stride: 2}
"""


def machine(tmp_path: Path, text: str, **more: str) -> HierarchyMachine:
    paths = []
    for name, content in {"arch": text, **more}.items():
        path = tmp_path / f"{name}.yaml"
        path.write_text(content)
        paths.append(str(path))
    found, files = load_machine_files("+".join(paths))
    assert isinstance(found, HierarchyMachine)
    assert [file.path for file in files] == paths
    return found


def test_nodes_become_levels_with_a_level_for_every_mesh(tmp_path: Path) -> None:
    found = machine(tmp_path, NEW)
    assert [level.name for level in found.levels] == ["DRAM", "buffer", "inter_PE_spatial", "weights", "sums"]
    assert found.units == 8
    assert (found.levels[2].fanout.x, found.levels[2].fanout.y) == (4, 2)
    assert found.levels[2].bypass == ["*"]
    assert found.clock_mhz == 1000


def test_words_follow_from_depth_and_width(tmp_path: Path) -> None:
    found = machine(tmp_path, NEW)
    assert [(level.words, level.block) for level in found.levels[:2]] == [(None, 8), (4096, 4)]
    assert found.levels[1].bandwidth.read == 4


def test_components_in_parallel_leave_each_tensor_to_one(tmp_path: Path) -> None:
    weights, sums = machine(tmp_path, NEW).levels[3:]
    assert (weights.keep, weights.bypass) == (["Weights"], ["Outputs"])
    assert (sums.keep, sums.bypass) == (["Outputs"], ["Weights"])


def test_constraints_of_a_mesh_hold_at_its_level(tmp_path: Path) -> None:
    (constraint,) = machine(tmp_path, NEW).constraints
    assert (constraint.level, constraint.kind, constraint.split) == ("inter_PE_spatial", "spatial", 1)
    assert (constraint.factors, constraint.most, constraint.permutation) == ({"R": 1}, {"P": 2}, ["C", "M"])


def test_subtrees_of_earlier_versions_count_their_ranges(tmp_path: Path) -> None:
    found = machine(tmp_path, OLD)
    assert [level.name for level in found.levels] == ["DRAM", "buffer", "registers"]
    assert (found.levels[1].fanout.x, found.levels[1].fanout.y) == (4, 2)
    assert (found.rules.first_fill, machine(tmp_path, NEW).rules.first_fill) == ("counted", "elided")


def test_tables_give_energies_and_areas_by_bare_names(tmp_path: Path) -> None:
    actions = "[{name: read, energy: 2}, {name: write, energy: 3}, {name: leak, energy: 0.5}]"
    names = ("s.DRAM[1..1]", "s.buffer", "s.PE[0..7].weights[1..8]", "s.sums")
    table = "".join(f"  - {{name: '{name}', actions: {actions}}}\n" for name in names)
    ert = f"ERT:\n  tables:\n{table}  - {{name: s.mac, actions: [{{name: compute, energy: 1}}]}}\n"
    found = machine(tmp_path, NEW, ert=ert, art="ART:\n  tables: [{name: s.buffer, area: 500}]\n")
    actions_of = found.levels[3].actions
    assert actions_of is not None
    assert (actions_of.read, actions_of.fill, actions_of.update, actions_of.leak) == (2, 3, 3, 0.5)
    assert found.compute.energy_pj == 1
    assert found.levels[1].area_mm2 == pytest.approx(5e-4)


def test_constraints_of_another_file_are_joined(tmp_path: Path) -> None:
    entry = "{target: buffer, type: temporal, factors: K=2, permutation: PK}"
    targets = f"architecture_constraints:\n  targets:\n  - {entry}\n"
    found = machine(tmp_path, OLD, constraints=targets)
    assert [(one.level, one.factors, one.permutation) for one in found.constraints] == [
        ("buffer", {"K": 2}, ["P", "K"])
    ]


def test_a_preset_takes_constraints_of_timeloops(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(
        "mapspace_constraints:\n  targets:\n  - {target: accumulator, type: temporal, factors: C=1}\n"
    )
    found, _ = load_machine_files(f"gemmini-16+{path}")
    assert isinstance(found, HierarchyMachine)
    assert found.constraints[-1].level == "accumulator"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("class: SRAM", "class: XY_NoC"), "is a network"),
        (("read_bandwidth: 4", "network_fill_latency: 4"), "network_fill_latency: 4 cannot be represented"),
        (("depth: 16*64", "depth: x*64"), "is no number"),
        (("factors: [R=1, P<=2]", "factors: [R]"), "is no factor"),
        (
            ("dataspace: {keep: [Weights]}", "dataspace: {no_reuse: [Weights]}"),
            "no_reuse: cannot be represented",
        ),
        (("class: intmac", "class: SRAM"), "must compute"),
        (("version: 0.4", "version: {{v}}"), "jinja"),
        (("!Parallel", "!Pipeline"), "is no node of version 0.4"),
    ],
)
def test_what_cannot_be_represented_is_one_line(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        machine(tmp_path, NEW.replace(*change, 1))


def test_a_problem_file_is_a_nest(tmp_path: Path) -> None:
    path = tmp_path / "problem.yaml"
    path.write_text(PROBLEM)
    (layer,) = load_network(str(path)).layers
    assert layer.nest.bounds == (("K", 4), ("P", 6), ("R", 3))
    assert [str(index) for index in layer.nest.operands[1].index] == ["2*P + R"]
    assert [operand.access for operand in layer.nest.operands] == ["read", "read", "read_write"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("stride: 2", "stride: 2, densities: {Weights: 0.5}"), "sparse"),
        (("K: 4", "K: four"), "problem.instance.K"),
        (("[P, stride]", "[P, pace]"), "is no coefficient"),
        (("read_write: true", "density: 1"), "cannot be represented"),
    ],
)
def test_what_is_no_dense_problem_is_one_line(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    path = tmp_path / "problem.yaml"
    path.write_text(PROBLEM.replace(*change, 1))
    with pytest.raises(InputError, match=said):
        load_network(str(path))


def test_attributes_that_change_nothing_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "arch.yaml"
    path.write_text(NEW.replace("read_bandwidth: 4", "read_bandwidth: 4, technology: 45nm, colour: red"))
    machine, _ = load_machine_files(str(path))
    assert isinstance(machine, HierarchyMachine)
    assert "technology of buffer: changes nothing here" in machine.passed_over
    assert "colour of buffer: changes nothing here" in machine.passed_over


def test_a_number_without_end_is_no_size(tmp_path: Path) -> None:
    path = tmp_path / "arch.yaml"
    path.write_text(NEW.replace("depth: 16*64", "depth: .inf"))
    with pytest.raises(InputError, match=r"depth: 'inf' is no number"):
        load_machine_files(str(path))


def test_constraints_in_a_document_of_this_project_with_other_line_ends_are_its_own(tmp_path: Path) -> None:
    path = tmp_path / "machine.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + (preset_text("eyeriss-like") or "").replace("\n", "\r").encode())
    assert load_machine_files(str(path))[0].name == "eyeriss-like"
