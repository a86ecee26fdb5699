"""How networks become layers, edges and stores of an overlay."""

from __future__ import annotations

from typing import Any

import pytest

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork, Share
from mapper.workloads.document import InputError
from mapper.workloads.source import load_layers


def overlay(name: str, **changed: Any) -> OverlayNetwork:
    machine, _ = load_machine("dynamap-u200-model")
    assert isinstance(machine, OverlayMachine)
    fields = machine.model_dump(by_alias=True) | changed
    return overlay_network(load_layers(name), OverlayMachine.model_validate(fields))


def test_a_pool_and_lrn_between_two_convolutions_leave_an_edge() -> None:
    network = overlay("googlenet")
    first = network.stores[0]
    assert (first.name, first.shares, first.readers, first.vertex) == ("conv1", (Share(0, 64),), (1,), False)
    # The pooled map is what travels.
    assert first.elements == 55 * 55


def test_a_concatenation_is_stored_by_every_branch_with_its_channels() -> None:
    network = overlay("googlenet")
    joined = next(store for store in network.stores if store.name == "concat1")
    assert [share.channels for share in joined.shares] == [64, 128, 32, 32]
    assert [network.names[reader] for reader in joined.readers] == ["conv10", "conv11", "conv13", "conv15"]
    assert [network.names[reader] for reader in joined.through] == ["conv15"]


def test_the_shortcut_of_an_addition_is_read_back() -> None:
    network = overlay("resnet50")
    loaded = [share for store in network.stores for share in store.shares if share.loaded]
    assert len(loaded) == 15  # The sixteenth addition leads to the classifier, which is free.
    assert loaded[0].loaded == 56 * 56 * 256
    assert sum(store.plain for store in network.stores) == sum(share.loaded for share in loaded)


def test_what_is_stored_already_is_copied_into_a_later_concatenation() -> None:
    network = overlay("densenet121")
    second = next(store for store in network.stores if store.name == "concat2")
    assert [share.layer is None for share in second.shares] == [True, False]
    assert second.shares[0].channels == 64 + 32
    assert second.shares[0].loaded == 96 * 56 * 56


def test_a_flattened_map_keeps_its_channels_on_the_way_to_a_product() -> None:
    network = overlay("alexnet", layers={"fully_connected": "product"})
    reader = network.position["gemm1"]
    store = network.stores[network.source[reader]]
    channels = sum(share.channels for share in store.shares)
    assert store.elements * channels == network.layers[reader].in_channels
    assert overlay("alexnet").names[-1] == "conv5"


def test_average_pools_are_layers_only_where_the_machine_says_so() -> None:
    counted = overlay("inception-v2", layers={"average_pool": "convolution"})
    assert sum(layer.per_channel for layer in counted.layers) == 8
    assert not any(layer.per_channel for layer in overlay("inception-v2").layers)


def test_formats_of_two_kernels_are_told_apart_by_their_readers() -> None:
    network = overlay("inception-v4")
    labels = [label for names in network.labels for label in names]
    assert any(label.startswith("toeplitz@conv") for label in labels)
    assert "tensor3d" in labels and not any(label.startswith("tensor3d@") for label in labels)


def generated(name: str) -> OverlayNetwork:
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine)
    return overlay_network(load_layers(name), machine)


def test_thin_maps_that_convolutions_alone_read_may_lie_channel_by_channel() -> None:
    network = generated("squeezenet")
    planar = [store.name for store in network.stores if store.planes]
    assert planar == [f"conv{at}" for at in range(2, 24, 3)]
    assert network.labels[network.source[network.position["conv3"]]] == ("tensor3d", "planes")
    assert not any(store.planes for store in overlay("squeezenet").stores)


def test_maps_that_a_pool_reads_lie_position_by_position() -> None:
    network = generated("googlenet")
    assert any(store.vertex for store in network.stores)
    assert {*network.labels} == {("tensor3d",)}


def test_a_network_without_convolutions_is_refused() -> None:
    with pytest.raises(InputError, match="has no layer"):
        overlay("googlenet/softmax1")


def test_a_name_that_is_no_layer_of_the_overlay_is_refused() -> None:
    with pytest.raises(InputError, match="not a layer of the overlay"):
        overlay("alexnet").layer("lrn1")
