"""Layers are called by their own names, or as the file calls their nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

import mapper
from mapper.cli.terminal import solution_rows
from mapper.workloads.document import InputError
from mapper.workloads.network.naming import own_fix, own_name
from mapper.workloads.source import load_layers, load_network, load_operators

NAMES = [
    ("conv1", "/layer1/layer1.0/Conv"),
    ("conv2", "/layer1/layer1.0/Conv.1"),
    ("conv3", "conv1"),
    ("add1", "x"),
]


@pytest.fixture
def network(tmp_path: Path) -> str:
    """Two convolutions whose nodes are named as PyTorch names them."""
    nodes = [
        helper.make_node("Conv", ["x", "v"], ["t"], name="/layer1/layer1.0/Conv"),
        helper.make_node("Conv", ["t", "w"], ["y"], name="/layer1/layer1.1/Conv"),
    ]
    weights = [
        helper.make_tensor(name, TensorProto.FLOAT, [8, 8, 3, 3], bytes(4 * 576), raw=True) for name in "vw"
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, side, side])
        for name, side in (("x", 12), ("y", 8))
    ]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], weights)
    path = tmp_path / "net.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    )
    return str(path)


@pytest.mark.parametrize("load", [load_network, load_layers, load_operators])
def test_a_part_is_given_by_the_name_of_its_node(load: Any, network: str) -> None:
    assert load(f"{network}//layer1/layer1.1/Conv").name == load(f"{network}/conv2").name


def test_a_decision_is_pinned_under_the_name_of_the_node(network: str) -> None:
    found = mapper.solve(network, "dynamap-u200", fix={"/layer1/layer1.1/Conv.algorithm": "kn2row"})
    assert found.posed.options.fix == {"conv2.algorithm": "kn2row"}
    assert found.to_json()["parts"][0]["mapping"]["choice"]["conv2"]["algorithm"] == "kn2row"


def test_the_table_shows_the_nodes_beside_the_layers(network: str) -> None:
    heading, lines = solution_rows(mapper.solve(network))
    assert heading[:2] == ["part", "node"]
    assert [line[:2] for line in lines[:2]] == [[f"conv{n + 1}", f"/layer1/layer1.{n}/Conv"] for n in (0, 1)]


def test_a_name_that_no_layer_has_is_answered_by_the_nearest(network: str) -> None:
    with pytest.raises(InputError, match=r"there are .*/layer1/layer1\.1/Conv"):
        load_network(f"{network}//layer1/layer1.9/Conv")


def test_the_longest_name_of_a_node_is_the_one_that_is_meant() -> None:
    fix = own_fix({"/layer1/layer1.0/Conv.1.rf": "8", "/layer1/layer1.0/Conv.rf": "4"}, NAMES)
    assert fix == {"conv2.rf": "8", "conv1.rf": "4"}


def test_values_name_layers_too() -> None:
    assert own_fix({"shared": "/layer1/layer1.0/Conv+x,add1"}, NAMES) == {"shared": "conv1+add1,add1"}


def test_a_name_of_several_layers_is_refused_with_their_own_names() -> None:
    with pytest.raises(InputError, match="several layers; give one of conv1, conv3"):
        own_name("conv1", NAMES, "net.onnx")
    with pytest.raises(InputError, match="several layers; give one of a, b"):
        own_fix({"same.rf": "1"}, [("a", "same"), ("b", "same")])


@settings(deadline=None, max_examples=30)
@given(st.dictionaries(st.text(max_size=12), st.text(max_size=12), max_size=4))
def test_what_names_no_node_is_left_as_it_is(fix: dict[str, str]) -> None:
    assert own_fix(fix, [("conv1", "some long node name"), ("add1", "")]) == fix
