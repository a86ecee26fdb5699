"""What each way to fuse the paper's example sends over the chip's border, counted by hand."""

from __future__ import annotations

import pytest

from mapper.arch.tcpa import tcpa_from_document, tcpa_preset
from mapper.models.pe_allocation.fusion import Fusion, fusions
from mapper.models.pe_allocation.stream.layer import stream_network
from mapper.workloads.source import load_layers

WEIGHTS = 24 * 9 + 24 * 24 * 9 + 16 * 24 * 9
FRAME = RESULT = 784
MAPS = {1: 28 * 28 * 24, 2: 14 * 14 * 24, 3: 14 * 14 * 24, 4: 7 * 7 * 24}
"""Words of the maps at each boundary of conv0 pool1 conv2 pool3 conv4."""
MACS = 784 * 24 * 9 + 196 * 24 * 24 * 9 + 49 * 16 * 24 * 9


@pytest.fixture(scope="module")
def table() -> list[Fusion]:
    document = tcpa_preset("tcpa-4x4")
    assert document is not None
    network = stream_network(load_layers("mnist-tcpa", None))
    return list(fusions(network, tcpa_from_document(document, "tcpa-4x4")))


def test_five_layers_can_be_cut_in_sixteen_ways(table: list[Fusion]) -> None:
    assert len({way.segments for way in table if way.mode == "mixed"}) == 16


def test_all_layers_fused_send_frame_and_result_only(table: list[Fusion]) -> None:
    assert table[0].segments == (0,)
    assert table[0].off_chip_words == FRAME + RESULT
    assert table[0].macs_per_byte == MACS / (FRAME + RESULT) == 864
    assert table[0].buffer_bytes == 12_068


def test_every_cut_sends_its_maps_away_and_back_unless_they_stay(table: list[Fusion]) -> None:
    for way in table[1:-1]:
        crossing = 0 if way.on_chip else 2 * sum(MAPS[cut] for cut in way.segments[1:])
        assert way.off_chip_words == WEIGHTS + FRAME + RESULT + crossing
        assert way.macs_per_byte == MACS / way.off_chip_words


def test_maps_that_stay_take_room_while_they_are_made_and_read(table: list[Fusion]) -> None:
    rooms = {way.segments: way.buffer_bytes for way in table if way.on_chip}
    away = {way.segments: way.buffer_bytes for way in table if not way.on_chip and way.mode == "mixed"}
    # Two runs: the map is there in both, so that it comes on top of the larger one.
    for cut, words in MAPS.items():
        assert rooms[0, cut] == away[0, cut] + words


def test_layer_by_layer_sends_what_all_cuts_do_and_holds_whole_maps(table: list[Fusion]) -> None:
    apart = next(way for way in table if way.segments == (0, 1, 2, 3, 4) and not way.on_chip)
    assert table[-1].mode == "layer-by-layer"
    assert table[-1].off_chip_words == apart.off_chip_words == 69_224
    assert table[-1].buffer_bytes == MAPS[1] + MAPS[2] > apart.buffer_bytes
