"""Networks of the catalogue and of files as graphs of operators."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import onnx
import pytest

from mapper.workloads.catalogue import CATALOGUE
from mapper.workloads.document import InputError
from mapper.workloads.network.operator_network import POOLS
from mapper.workloads.source import load_network, load_operators

NETWORKS = [name for name, entry in CATALOGUE.items() if entry.origin != "document"]
# Convolutions, pools, fully connected layers; [Bae2018], Table I counts four of them.
COUNTS = {
    "lenet5": (2, 2, 2),
    "cifar10": (8, 4, 0),
    "squeezenet": (26, 4, 0),
    "squeezenet-1.0": (26, 4, 0),
    "alexnet": (5, 3, 3),
    "alexnet-darknet": (5, 3, 3),
    "googlenet": (57, 14, 1),
    "resnet50": (53, 2, 1),
    "densenet121": (121, 5, 0),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_layers_and_their_work_are_those_of_the_loop_nests(name: str) -> None:
    network, nests = load_operators(name), load_network(name)
    worked = [
        (operator.name, operator.source, operator.op) for operator in network.operators if operator.macs
    ]
    assert worked == [(layer.name, layer.source, layer.op) for layer in nests.layers]
    assert (network.macs, network.batch, network.files) == (nests.macs, nests.batch, nests.inputs)


@pytest.mark.parametrize("name", COUNTS)
def test_a_network_has_the_layers_that_were_published(name: str) -> None:
    found = Counter(operator.op for operator in load_operators(name).operators)
    assert (found["Conv"], sum(found[op] for op in POOLS), found["Gemm"]) == COUNTS[name]


def test_mnist_tcpa_keeps_the_names_of_the_paper() -> None:
    names = [operator.name for operator in load_operators("mnist-tcpa").operators]
    assert names == ["conv0", "pool1", "conv2", "pool3", "conv4", "flatten", "gemm1"]


def test_a_file_is_the_graph_that_the_catalogue_has() -> None:
    path = Path(onnx.__file__).parent / "backend/test/data/light/light_squeezenet.onnx"
    file, entry = load_operators(str(path), 2), load_operators("squeezenet", 2)
    assert (file.operators, file.tensors, file.outputs) == (entry.operators, entry.tensors, entry.outputs)
    assert [(read.path, read.sha256) for read in file.files] == [(str(path), entry.files[0].sha256)]


def test_a_part_is_one_operator_with_its_own_inputs_and_outputs() -> None:
    part = load_operators("resnet18/add1")
    assert [operator.name for operator in part.operators] == ["add1"]
    assert part.inputs == ("res2a.conv2.out", "pool1.out")
    assert part.outputs == ("res2a.add.out",)
    assert part.tensors == dict.fromkeys((*part.inputs, *part.outputs), (1, 64, 56, 56))
    assert part.name == "resnet18/add1"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("lenet5/conv9", "no such layer among its 9; did you mean conv"),
        ("lenet5/", "no such layer among its 9"),
        ("matmul", "not a graph of operators"),
        ("no-such-net", "no such workload"),
        ("no-such-file.json", r"no-such-file\.json: is not a file"),
        ("no-such-file.yaml/part", r"no-such-file\.yaml: is not a file"),
    ],
)
def test_what_is_no_graph_of_operators_is_one_line(text: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        load_operators(text)
