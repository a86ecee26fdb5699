"""What a user may call a workload."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from onnx import helper

from mapper.workloads.document import InputError
from mapper.workloads.source import load_network

NEST = (
    "schema: mapper.nest/1\nname: copy\nloops: {I: 4}\noperands: [{tensor: A, index: [I], access: write}]\n"
)


def test_one_layer_of_a_network_is_named_after_a_slash() -> None:
    network = load_network("resnet-dmazerunner/conv5_2")
    assert network.name == "resnet-dmazerunner/conv5_2"
    assert [layer.name for layer in network.layers] == ["conv5_2"]


def test_one_layer_of_a_file_is_named_after_a_slash(save_model: Callable[..., str]) -> None:
    path = save_model([helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": [2, 3]}, {"w": [3, 5]})
    assert [layer.name for layer in load_network(f"{path}/gemm1").layers] == ["gemm1"]


def test_a_nest_file_is_a_network_of_one_layer(tmp_path: Path) -> None:
    path = tmp_path / "nest.yaml"
    path.write_text(NEST)
    network = load_network(str(path))
    assert [layer.name for layer in network.layers] == ["copy"]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert [(read.path, read.sha256) for read in network.inputs] == [(str(path), digest)]


def test_the_batch_of_the_six_layers_can_be_changed() -> None:
    network = load_network("resnet-dmazerunner", batch=1)
    assert network.batch == 1
    assert {layer.nest.trip_counts["N"] for layer in network.layers} == {1}


@pytest.mark.parametrize(
    ("text", "batch", "expected"),
    [
        ("resnet", None, "did you mean resnet50"),
        ("gogglenet/conv1", None, "did you mean googlenet"),
        ("", None, "no such workload"),
        ("a\0.onnx", None, "no such workload"),
        ("nowhere.onnx", None, "nowhere.onnx: is not a file"),
        ("nowhere.yaml", None, "nowhere.yaml: is not a file"),
        ("resnet50/conv99", None, "resnet50: conv99: no such layer"),
        ("matmul", 2, "--batch: matmul is a loop nest"),
        ("resnet50", 0, "--batch: 0 is not between"),
        ("resnet50", 1 << 40, "--batch: "),
    ],
)
def test_what_is_no_workload_is_one_line_with_a_remedy(text: str, batch: int | None, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        load_network(text, batch)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("loops: {I: 4}", "schema: is missing"),
        ("schema: mapper.nest/9", "schema: 'mapper.nest/9' is not a schema"),
        (NEST + "colour: red", "colour: unknown key"),
        (NEST.replace("I: 4", "I: -4"), "loops.I"),
        (NEST.replace("I: 4", "I: 99999999999999999999"), "loops.I"),
        (NEST.replace("[I]", "[I * I]"), "is not affine (a product of loops)"),
        (NEST.replace("[I]", "['__import__(1)']"), "is not affine"),
        ("schema: mapper.convolutions/1\nname: x\nlayers: []", "layers"),
        (
            "schema: mapper.convolutions/1\nname: x\nlayers: "
            "[{name: a, out_channels: 1, in_channels: 1, size: 2, kernel: 3}]",
            "layers.0.kernel: larger than the padded input",
        ),
        ("[1, 2]", "must be a document of named fields"),
        ("a: [", "neither YAML nor JSON"),
        ("\x00", "neither YAML nor JSON"),
        ("a: &a [1]\nb: *a", "aliases"),
        ("a: 1\na: 2", "occurs twice"),
        ("a: " + "[" * 100_000, "nested too deeply"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
        (NEST.replace("I: 4", "I: 0x" + "f" * 50_000), "more than 1000 digits"),
        (NEST.replace("I: 4", "I: 0x" + "f" * 900), "loops.I"),
        ("schema: 0x" + "f" * 900, "schema: is missing"),
        (NEST.replace("I: 4", "I: 1:30"), "loops.I"),
        ('{"schema": 1, "loops": {"I": 1, "I": 2}}', "I: occurs twice in one object"),
    ],
)
def test_a_faulty_document_is_one_line_naming_the_field(tmp_path: Path, content: str, expected: str) -> None:
    path = tmp_path / "nest.yaml"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        load_network(str(path))
    assert expected in str(caught.value)
    assert str(caught.value).startswith(str(path))
