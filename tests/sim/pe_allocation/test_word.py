"""Programs executed word by word and slot by slot, against what the simulator makes of them and the reference."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from mapper.models.pe_allocation.configuration.configuration import configure
from mapper.models.pe_allocation.configuration.program import LayerProgram
from mapper.sim.pe_allocation.arithmetic import position_unit
from mapper.sim.pe_allocation.data import Integers, LayerData, seeded
from tests.sim.pe_allocation.example import Net, allocated, array


def saturated(value: int, layer: LayerProgram) -> int:
    return min(127, max(0 if layer.rectified or layer.rule == "rectify" else -128, value))


def executed(layer: LayerProgram, data: LayerData, window: Integers) -> Integers:
    """Run every PE's words for one position; ``window`` is [k1][k2][map]."""
    results = np.zeros(layer.maps, dtype=np.int64)
    memory = data.weights.ravel().tolist()
    for program in layer.pes:
        sums: dict[int, int] = {}
        addresses = iter([] if program.weights is None else program.weights.addresses().ravel().tolist())
        ranges = [[loop.first + loop.step * at for at in range(loop.count)] for loop in program.loops]
        words = 0
        for k1, k2, n, m in itertools.product(*ranges):
            words += 1
            for d in range(layer.delta):
                address = next(addresses, None)
                depth, filter_ = (n, m + d) if layer.scheme == "lanes" else (n + d, m)
                if depth >= program.loops[2].limit or filter_ >= program.loops[3].limit:
                    continue
                issue(layer, sums, (k1, k2, depth, filter_), window, memory, address)
        assert words == program.work
        for target, value in sums.items():
            results[target] = finished(layer, data, target, value)
    return results


def issue(
    layer: LayerProgram, sums: dict[int, int], at: tuple[int, int, int, int], window: Integers,
    memory: list[int], address: int | None,
) -> None:  # fmt: skip
    k1, k2, n, m = at
    if layer.rule == "convolution":
        assert address is not None
        pixel = int(window[k1, k2, m // layer.group_filters * layer.depth + n])
        sums[m] = sums.get(m, 0) + memory[address] * pixel
    elif layer.rule in ("max", "average"):
        target = m if layer.scheme == "lanes" else n
        pixel = int(window[k1, k2, target])
        first = -128 if layer.rule == "max" else 0
        sums[target] = max(sums.get(target, first), pixel) if first else sums.get(target, 0) + pixel
    else:
        sums[m] = sums.get(m, 0) + int(window[0, 0, n * layer.maps + m])


def finished(layer: LayerProgram, data: LayerData, target: int, value: int) -> int:
    if layer.rule == "convolution":
        value = (value + int(data.bias[target]) + (1 << layer.shift >> 1)) >> layer.shift
    elif layer.rule == "average":
        value = int(np.floor(value / (layer.kernel[0] * layer.kernel[1]) + 0.5))
    return saturated(value, layer)


NETS: list[tuple[Net, dict[str, Any]]] = [
    (Net((5, 5), 3).convolution(5), {}),
    (Net((5, 5), 4).convolution(6, 2, groups=2, merged=("Relu",)), {}),
    (Net((4, 4), 5).pool(2, op="MaxPool"), {}),
    (Net((6, 6), 5).pool(3, op="AveragePool"), {}),
    (Net((3, 3), 4).convolution(4, 1).convolution(4, 1, -1).elementwise("Add", 0, 1), {}),
    (Net((5, 5), 3).convolution(7), {"mode": "layer-by-layer"}),
    (Net((4, 4), 5).pool(2, op="MaxPool"), {"mode": "layer-by-layer"}),
]


@pytest.mark.parametrize(("net", "fields"), NETS)
@pytest.mark.parametrize(("pes", "delta"), [(1, 1), (2, 2), (3, 2), (5, 3)])
def test_words_compute_what_the_simulator_takes_from_them(
    net: Net, fields: dict[str, Any], pes: int, delta: int
) -> None:
    network = net.network()
    allocation = allocated(network, *((pes,) * len(network.layers)), delta=delta, **fields)
    model = "lanes" if fields else "calculus"
    configuration = configure(network, array(), allocation, model)  # type: ignore[arg-type]
    data = seeded(configuration, 1, 3)
    layer = configuration.layers[-1]
    maps = layer.channels * layer.operands
    stream = np.random.default_rng(5)
    window = stream.integers(-128, 127, (*layer.kernel, maps), endpoint=True)
    compute = position_unit(layer, data.layers[-1])
    found = compute(window.reshape(1, -1, maps).astype(np.float64))[0]
    assert found.tolist() == executed(layer, data.layers[-1], window).tolist()
