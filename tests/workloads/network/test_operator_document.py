"""Graphs of operators are written as documents and read back, and broken ones are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from mapper.workloads.catalogue import CATALOGUE
from mapper.workloads.document import InputError
from mapper.workloads.network.operator_document import operators_document, operators_from_document
from mapper.workloads.source import load_operators

Change = Callable[[dict[str, Any]], Any]


@pytest.mark.parametrize("name", [name for name, entry in CATALOGUE.items() if entry.origin != "document"])
def test_a_network_is_read_back_from_its_document(name: str) -> None:
    network = load_operators(name)
    text = json.dumps(operators_document(network), allow_nan=False)
    assert operators_from_document(json.loads(text), "file", network.files) == network


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda d: d.update(schema="mapper.nest/1"), "schema"),
        (lambda d: d.pop("tensors"), "tensors"),
        (lambda d: d.update(colour=1), "colour: unknown key"),
        (lambda d: d["tensors"].pop("image"), "tensors: lacks the shape of 'image'"),
        (lambda d: d["tensors"].update(image=[1, 0]), "tensors.image.1"),
        (lambda d: d["operators"].reverse(), "operators.0.operands: .* order the operators"),
        (lambda d: d["operators"][1].update(name="conv1"), "operators.1.name: names a second operator"),
        (lambda d: d["operators"][1].update(outputs=["image"]), "operators.1.outputs"),
        (lambda d: d["operators"][1].update(outputs=[""]), "operators.1.outputs"),
        (lambda d: d["operators"][0]["window"].update(kernel=[5]), "operators.0.window: must have one entry"),
        (
            lambda d: d["operators"][0]["window"].update(strides=[2, 1]),
            r"operators.0: Conv .* makes sizes \[12, 24\]",
        ),
        (lambda d: d["operators"][0]["window"].update(groups=2), "operators.0: Conv .* cannot have weights"),
        (
            lambda d: d["operators"][0]["weights"].update({"conv1.bias": [3]}),
            "operators.0: Conv .* must have one bias",
        ),
        (lambda d: d["operators"][1].update(window=None), "operators.1: MaxPool .* lacks its window"),
        (
            lambda d: d["tensors"].update({"flatten.out": [1, 7]}),
            "operators.4: Flatten .* must keep the number",
        ),
        (
            lambda d: d["operators"][5]["weights"].update({"fc1.weight": [2, 2]}),
            "operators.5: Gemm .* cannot multiply",
        ),
        (lambda d: d["operators"][0].update(macs=-1), "operators.0.macs"),
        (
            lambda d: d["operators"][0]["attributes"].update(alpha=float("nan")),
            "operators.0.attributes.alpha",
        ),
        (lambda d: d.update(outputs=["nothing"]), "outputs: names a tensor that nothing makes"),
    ],
)
def test_a_broken_document_is_refused_with_its_field(change: Change, fault: str) -> None:
    document = json.loads(json.dumps(operators_document(load_operators("lenet5"))))
    change(document)
    with pytest.raises(InputError, match=f"^file: {fault}"):
        operators_from_document(document, "file")


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ("resnet18/add1", "Add .* does not make"),
        ("squeezenet/concat1", "Concat .* does not make"),
        ("resnet50/batchnormalization1", "BatchNormalization .* must have four constants"),
        ("lightcnn9/max1", "Max .* does not make"),
        ("cifar10/pool4", "GlobalAveragePool .* must keep the number of channels"),
    ],
)
def test_shapes_that_contradict_each_other_are_refused(part: str, fault: str) -> None:
    document = json.loads(json.dumps(operators_document(load_operators(part))))
    document["tensors"][document["outputs"][0]][1] += 1
    with pytest.raises(InputError, match=f"operators.0: {fault}"):
        operators_from_document(document, "file")
