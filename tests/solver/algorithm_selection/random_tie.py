"""Random networks of four layers whose stores hold the next layer up, and whose kernels are late."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import OBJECTIVES, Pin, SelectionProblem
from mapper.models.algorithm_selection.overlay.layer import DATAFLOWS, OverlayLayer
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork, Share, Store
from mapper.models.algorithm_selection.overlay.running import Running

SIZES = (
    ([1, 2, 7], [1, 13], [1, 40]),
    ([5, 12, 23], [1, 2, 13], [40, 130, 300]),
    ([1, 2, 5], [1, 2, 13], [1, 3, 40]),
    ([1, 2, 7], [64, 130, 257], [40, 130]),
)
"""Sides, channels in and channels out of every layer."""


@st.composite
def tied_problems(draw: st.DrawFn) -> SelectionProblem:
    """The generated overlay with few PEs, or many in a given array. All layers read the first one:
    large maps of few channels are stored, then come small products, then many kernels."""
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine) and machine.engines is not None
    terms = {name: draw(st.sampled_from([True, True, False])) for name in ("inputs_ahead", "kernel_parts")}
    machine = machine.model_copy(update={"engines": machine.engines.model_copy(update=terms)})
    layers = []
    for at, (sides, depths, counts) in enumerate(SIZES):
        kernel, side = draw(st.sampled_from([1, 3, 3])), draw(st.sampled_from(sides))
        depth, maps = draw(st.sampled_from(depths)), draw(st.sampled_from(counts))
        pads = ((kernel // 2, kernel // 2),) * 2
        square = ((side, side), (side, side), (kernel, kernel))
        layers.append(OverlayLayer(f"conv{at}", f"conv{at}", "Conv", 1, depth, maps, *square, pads=pads))
    ahead = frozenset({1, 2, 3})
    running = Running((), ahead, overlapping=frozenset({2}) | draw(st.frozensets(st.sampled_from([1, 3]))))
    store = Store("conv0", 1, layers[0].positions, (Share(0, layers[0].out_channels),), (1, 2, 3))
    network = OverlayNetwork("tied", machine, tuple(layers), (store,), running=running)
    array = draw(st.sampled_from([None, (1, 3), (5, 7), (16, 64), (64, 16)]))
    problem = SelectionProblem(network, max_pes=4 if array is None else 0, array=array)
    pins = {
        layer.name: Pin(
            draw(st.frozensets(st.sampled_from(problem.algorithms(at)), min_size=1, max_size=2)),
            draw(st.frozensets(st.sampled_from(DATAFLOWS), min_size=1 + (at == 1), max_size=2)),
            draw(st.sampled_from([frozenset({1}), frozenset({1, 2})])),
        )
        for at, layer in enumerate(layers)
    }
    return replace(problem, pins=pins, objective=draw(st.sampled_from(OBJECTIVES[:2])))
