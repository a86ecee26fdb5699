"""Eqs. 9 to 14 and every row of Table 2, counted by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from mapper.arch.overlay import OverlayMachine, overlay_from_document
from mapper.models.algorithm_selection.choice import Algorithm, Dataflow
from mapper.models.algorithm_selection.layout import format_of, store_units, weight_words
from mapper.models.algorithm_selection.overlay.layer import OverlayLayer
from mapper.models.algorithm_selection.product import cycles, product, utilisation


def machine(**changed: object) -> OverlayMachine:
    fields: dict[str, object] = {
        "schema": "mapper.dynamap/1",
        "name": "small",
        "pes": 961,
        "clock_mhz": 100,
        "word_bits": 8,
        "bandwidth_gb_s": 0.1,
    }
    return overlay_from_document(fields | changed, "small")


def layer(kernel: int = 3, depth: int = 32, columns: int = 8, side: int = 5, pad: int = 1) -> OverlayLayer:
    out = side + 2 * pad - kernel + 1
    pads = ((pad, pad), (pad, pad))
    return OverlayLayer(
        "conv2", "", "Conv", 1, depth, columns, (side, side), (out, out), (kernel, kernel), pads=pads
    )


def test_the_example_of_section_3_2_has_its_utilisations() -> None:
    # (a, b) x (b, c) = (62, 124) x (124, 64) on 31 x 31; a 1 x 1 convolution of a 62 x 1 map.
    one = OverlayLayer("conv1", "", "Conv", 1, 124, 64, (62, 1), (62, 1), (1, 1))
    found = {}
    for dataflow in ("NS", "WS", "IS"):
        taken = sum(cycles(one, "im2col", dataflow, (31, 31), machine()), Fraction(0))
        found[dataflow] = utilisation(one.macs, taken, (31, 31))
    assert found == {
        "NS": pytest.approx(0.688, abs=5e-4),
        "WS": pytest.approx(0.688, abs=5e-4),
        "IS": pytest.approx(1.0),
    }


@pytest.mark.parametrize(
    ("algorithm", "dataflow", "expected"),
    [
        # im2col: a, b, c = 25, 288, 8; kn2row: 25, 32, 8 nine times; Winograd: 9 tiles, 32, 8 sixteen times.
        ("im2col", "NS", 7 * 2 * 288),
        ("im2col", "WS", 72 * 2 * 25),
        ("im2col", "IS", 72 * 7 * 8),
        ("kn2row", "NS", 7 * 2 * 32 * 9),
        ("kn2row", "WS", 8 * 2 * 25 * 9),
        ("kn2row", "IS", 8 * 7 * 8 * 9),
        ("winograd", "NS", 3 * 2 * 32 * 16),
        ("winograd", "WS", 8 * 2 * 9 * 16),
        ("winograd", "IS", 8 * 3 * 8 * 16),
    ],
)
def test_cycles_are_those_of_equations_9_to_12(
    algorithm: Algorithm, dataflow: Dataflow, expected: int
) -> None:
    assert list(cycles(layer(), algorithm, dataflow, (4, 4), machine())) == [expected, 0, 0]


def test_tiles_by_area_and_rounds_of_a_larger_kernel() -> None:
    by_area = machine(winograd={"tiles": "area"})
    assert product(layer(), "winograd", by_area).a == Fraction(25, 4)
    five = layer(kernel=5, pad=2)
    assert product(five, "winograd", machine()).times == Fraction(16 * 25, 9)
    assert product(five, "winograd", machine(winograd={"rounds": "ceil"})).times == 48
    assert product(five, "winograd", machine(winograd={"rounds": "pieces"})).times == 64


@pytest.mark.parametrize(("per", "expected"), [("layer", 10), ("product", 160), ("pass", 960)])
def test_initialisation_is_paid_per_layer_product_or_pass(per: str, expected: int) -> None:
    posed = machine(initialisation={"factor": 2, "per": per}, winograd={"transform_cycles": 3})
    # Winograd, NS on 4 x 5: 3 * 2 passes of each of the 16 products.
    assert list(cycles(layer(), "winograd", "NS", (4, 5), posed)[1:]) == [48, expected]


def test_an_average_pool_is_one_kernel_over_every_channel() -> None:
    pool = OverlayLayer(
        "pool1", "", "AveragePool", 1, 6, 6, (8, 8), (4, 4), (2, 2), strides=(2, 2), per_channel=True
    )
    found = product(pool, "im2col", machine())
    assert [found.a, found.b, found.c, found.times] == [96, 4, 1, 1]
    assert pool.macs == found.macs


def test_groups_are_products_of_their_own() -> None:
    grouped = replace(layer(), groups=2)
    found = product(grouped, "im2col", machine())
    assert [found.a, found.b, found.c, found.times] == [25, 144, 4, 2]
    assert grouped.macs == found.macs


@pytest.mark.parametrize(
    ("producer", "reader", "words"),
    [
        ("im2col", "im2col", 25 * 9 * 32),
        ("kn2row", "im2col", 25 * 9 * 32),
        ("im2col", "kn2row", 25 * 32),
        ("kn2row", "kn2row", 25 * 32),
        ("winograd", "kn2row", 25 * 32),
        # Eq. 13: 32 channels are fewer than a burst of 64.
        ("im2col", "winograd", Fraction(25 * 32 * 4) * (32 + Fraction(4, 25)) / 32),
        ("kn2row", "winograd", Fraction(25 * 32 * 4) * (32 + Fraction(4, 25)) / 32),
        ("winograd", "winograd", 25 * 32 * 4),
    ],
)
def test_storing_takes_the_words_of_table_2(producer: Algorithm, reader: Algorithm, words: Fraction) -> None:
    posed = machine()
    # One byte a cycle: 100 MHz and 0.1 GB/s.
    units = store_units(format_of(layer(), reader), 32, producer, posed)
    assert Fraction(units, posed.units_per_cycle) == words


def test_from_winograd_to_a_toeplitz_matrix_ovhd_is_added() -> None:
    posed = machine(traffic={"overhead_cycles": 7})
    units = store_units(format_of(layer(), "im2col"), 32, "winograd", posed)
    assert Fraction(units, posed.units_per_cycle) == 25 * 9 * 32 + 7


def test_a_whole_burst_wastes_no_bandwidth() -> None:
    posed = machine()
    units = store_units(format_of(layer(depth=64), "winograd"), 64, "im2col", posed)
    assert Fraction(units, posed.units_per_cycle) == 25 * 64 * 4


def test_kernels_of_winograd_are_stored_transformed() -> None:
    assert weight_words(layer(), "im2col", machine()) == 9 * 32 * 8
    assert weight_words(layer(), "winograd", machine()) == 16 * 32 * 8
