"""The networks of the catalogue have the published geometry."""

from __future__ import annotations

import hashlib
from pathlib import Path

import onnx
import pytest

from mapper.workloads.catalogue import CATALOGUE, catalogue_names
from mapper.workloads.network.network import Network
from mapper.workloads.network.published import BUILT
from mapper.workloads.source import load_network

# Convolutions, other layers, and multiply-accumulates of the convolutions in units of a million.
GEOMETRY = {
    "resnet50": (53, 1, 4087.1),
    "googlenet": (57, 1, 1430.5),
    "squeezenet": (26, 0, 349.2),
    "alexnet": (5, 3, 595.9),
    "vgg19": (16, 3, 19508.4),
    "densenet121": (121, 0, 2834.2),
    "shufflenet": (49, 1, 124.1),
    "zfnet512": (5, 3, 1401.0),
    "inception-v2": (69, 1, 2017.8),
    "inception-v4": (149, 1, 12252.4),
    "googlenet-224": (57, 1, 1581.6),
    "resnet18": (20, 1, 1813.6),
    "lenet5": (2, 2, 1.9),
    "cifar10": (8, 0, 8.4),
    "alexnet-one-tower": (5, 3, 655.6),
    "alexnet-darknet": (5, 3, 1076.6),
    "squeezenet-1.0": (26, 0, 832.7),
    "squeezenet-1.1": (26, 0, 349.2),
    "lightcnn9": (9, 1, 972.6),
    "mnist-tcpa": (3, 1, 1.4),
    "resnet-dmazerunner": (6, 0, 2553.0),
    "alexnet-eyeriss": (5, 0, 2663.1),
}
NESTS = {"matmul", "mttkrp", "conv3d", "depthwise", "attention-scores"}


def extents(network: Network, layer: str, operand: str) -> tuple[int, ...]:
    (found,) = (entry for entry in network.layers if entry.name == layer)
    (access,) = (entry for entry in found.nest.operands if entry.name == operand)
    return access.extents


@pytest.mark.parametrize("name", GEOMETRY)
def test_a_network_has_the_layers_and_work_that_were_published(name: str) -> None:
    network = load_network(name)
    convolutions = [layer.nest for layer in network.layers if layer.op == "Conv"]
    macs = sum(nest.iterations for nest in convolutions)
    counted = (len(convolutions), len(network.layers) - len(convolutions), round(macs / 1e6, 1))
    assert counted == GEOMETRY[name]


@pytest.mark.parametrize("name", sorted(NESTS))
def test_a_nest_is_a_network_of_one_layer_with_its_own_name(name: str) -> None:
    network = load_network(name)
    assert [(layer.name, layer.source, layer.nest.name) for layer in network.layers] == [(name, name, name)]
    assert network.batch is None


def test_every_entry_is_held_by_one_of_these_tests() -> None:
    assert {name for name, _ in catalogue_names()} == GEOMETRY.keys() | NESTS


def test_every_document_of_the_catalogue_is_an_entry() -> None:
    folder = Path(__file__).parents[3] / "workloads" / "catalogue"
    documents = {name for name, entry in CATALOGUE.items() if entry.origin == "document"}
    assert {path.stem for path in folder.glob("*.yaml")} == documents


@pytest.mark.parametrize("name", BUILT)
def test_a_built_network_passes_the_checker_of_onnx(name: str) -> None:
    onnx.checker.check_model(BUILT[name](), full_check=True)


def test_a_built_network_is_the_same_bytes_each_time() -> None:
    assert load_network("lenet5").inputs == load_network("lenet5").inputs


def test_the_six_layers_have_the_bounds_and_padded_extents_of_the_original() -> None:
    network = load_network("resnet-dmazerunner")
    bounds = {layer.name: tuple(layer.nest.trip_counts.values()) for layer in network.layers}
    assert bounds == {
        "conv1": (4, 64, 3, 112, 112, 7, 7),
        "conv2_2": (4, 64, 64, 56, 56, 3, 3),
        "conv3_2": (4, 128, 128, 28, 28, 3, 3),
        "conv4_2": (4, 256, 256, 14, 14, 3, 3),
        "conv5_1": (4, 512, 256, 7, 7, 3, 3),
        "conv5_2": (4, 512, 512, 7, 7, 3, 3),
    }
    assert extents(network, "conv1", "I") == (4, 3, 230, 230)
    assert extents(network, "conv5_1", "I") == (4, 256, 16, 16)


def test_googlenet_of_the_wheel_pools_with_floor_and_the_published_one_with_ceiling() -> None:
    assert extents(load_network("googlenet"), "conv4", "O")[2:] == (27, 27)
    assert extents(load_network("googlenet-224"), "conv4", "O")[2:] == (28, 28)


def test_inception_v4_has_asymmetric_kernels_where_the_table_has_them() -> None:
    network = load_network("inception-v4")
    kernels = [extents(network, f"conv{place}", "W")[2:] for place in (8, 9)]
    assert kernels == [(1, 7), (7, 1)]
    assert extents(network, "conv149", "W") == (256, 1536, 1, 1)


def test_layers_of_mnist_tcpa_keep_the_names_of_the_paper() -> None:
    network = load_network("mnist-tcpa")
    assert [layer.name for layer in network.layers] == ["conv0", "conv2", "conv4", "gemm1"]
    assert [operator.name for operator in network.skipped if operator.op == "MaxPool"] == ["pool1", "pool3"]


def test_a_catalogue_entry_is_named_with_the_hash_of_its_bytes() -> None:
    folder = Path(onnx.__file__).parent / "backend/test/data/light"
    digest = hashlib.sha256((folder / "light_squeezenet.onnx").read_bytes()).hexdigest()
    (read,) = load_network("squeezenet").inputs
    assert (read.path, read.sha256) == ("catalogue:squeezenet", digest)


def test_grouped_and_depthwise_convolutions_of_shufflenet_have_a_group_loop() -> None:
    groups = {layer.nest.trip_counts.get("G", 1) for layer in load_network("shufflenet").layers}
    assert {1, 4} < groups
