"""Which maps stay on the chip of the generated overlay, and what that saves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.models.algorithm_selection.choice import Choice
from mapper.models.algorithm_selection.cost import evaluate
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.models.algorithm_selection.overlay.staying import staying
from mapper.models.algorithm_selection.resource import overlay_size
from mapper.workloads.network.builder import NetworkBuilder
from mapper.workloads.source import load_layers


def machine(tensor: int | None = None) -> OverlayMachine:
    found, _ = load_machine("dynamap-u200")
    assert isinstance(found, OverlayMachine) and found.engines is not None
    if tensor is None:
        return found
    assert found.engines.buffers is not None
    buffers = found.engines.buffers.model_copy(update={"tensor": tensor})
    return found.model_copy(update={"engines": found.engines.model_copy(update={"buffers": buffers})})


@pytest.mark.parametrize(
    ("name", "direct", "stay"), [("googlenet", 19, 19), ("resnet50", 32, 29), ("squeezenet", 0, 0)]
)
def test_maps_that_the_next_layer_alone_reads_may_stay(name: str, direct: int, stay: int) -> None:
    # Of ResNet-50 two maps of 56 x 56 do not fit beside each other; SqueezeNet's have two readers.
    network = overlay_network(load_layers(name), machine())
    assert len(network.running.direct) == direct
    assert len(network.staying.get(128, ())) == stay


def test_outputs_parts_of_wholes_and_maps_with_a_pool_or_a_second_reader_behind_them_do_not_stay(
    tmp_path: Path,
) -> None:
    net = NetworkBuilder("net", 3, 8, 8)
    twice = net.convolution(net.input, "conv1", 4, 3, pad=1)
    left = net.convolution(twice, "conv2", 4, 3, pad=1)
    right = net.convolution(net.convolution(twice, "conv3", 5, 1), "conv4", 4, 3, pad=1)
    whole = net.concatenation("concat1", [left, right])
    pooled = net.pool(net.convolution(whole, "conv5", 6, 1), "pool1", 2, 2)
    last = net.convolution(net.convolution(pooled, "conv6", 4, 1), "conv7", 4, 4)
    (tmp_path / "net.onnx").write_bytes(net.model(last, 4).SerializeToString())
    network = overlay_network(load_layers(str(tmp_path / "net.onnx")), machine())
    assert {network.names[at] for at in network.running.direct} == {"conv4", "conv7"}


def test_maps_stay_in_order_wherever_they_fit_beside_the_one_that_is_read_meanwhile() -> None:
    maps = {1: (10, 9), 2: (10, 3), 3: (10, 8), 5: (10, 4), 6: (65536, 1)}
    # In banks of four they take 30, 10, 20, 10 and 65,536 words.
    assert staying(maps, maps, 1 << 20, 4) == {1, 2, 3, 5}
    assert staying(maps, maps, 30, 4) == {1, 3, 5}
    assert staying(maps, maps, 29, 4) == {2, 5}
    assert staying(maps, maps, 9, 4) == set()


def selections(network: OverlayNetwork) -> tuple[Selection, Selection]:
    """The same choices, without and with maps that stay."""
    choices = tuple(Choice("im2col", "NS") for _ in network.layers)
    labels = tuple(labels[0] for labels in network.labels)
    moved = Selection((47, 128), choices, labels)
    return moved, replace(moved, on_chip=tuple(sorted(network.staying[128])))


def test_what_stays_saves_its_words_their_energy_and_time() -> None:
    network = overlay_network(load_layers("googlenet"), machine())
    moved, stayed = (evaluate(network, one) for one in selections(network))
    maps = [network.stores[at] for at in network.staying[128]]
    stored = sum(one.images * one.elements * one.shares[0].channels for one in maps)
    assert moved.words["output"] - stayed.words["output"] == stored
    assert moved.words["input"] - stayed.words["input"] >= stored
    assert stayed.energy_pj < 0.85 * moved.energy_pj
    # DRAM's latency, once for each map at the least.
    assert stayed.cycles <= moved.cycles - 31 * len(maps)


def test_the_room_for_maps_that_stay_is_counted_and_fits_the_board() -> None:
    without, with_it = (overlay_size((47, 128), machine(words)) for words in (0, None))
    # 128 banks of 4,096 words are UltraRAMs, which leave the pooling units' lines to block memories.
    assert (without.brams, without.urams) == (1920, 904)
    assert (with_it.brams, with_it.urams) == (2048, 904)
    assert overlay_network(load_layers("lenet5"), machine(0)).staying == {}
