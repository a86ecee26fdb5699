"""Random networks of four layers whose tensors may lie channel by channel: one that two layers read, and what these
make, side by side."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import OBJECTIVES, Pin, SelectionProblem
from mapper.models.algorithm_selection.overlay.layer import DATAFLOWS, OverlayLayer
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork, Share, Store
from mapper.models.algorithm_selection.overlay.running import Running

THIN = (1, 2, 3, 5, 40)
"""Channels: few, so that positions fill the lanes better, and more."""


@st.composite
def planar_problems(draw: st.DrawFn) -> SelectionProblem:
    """The generated overlay with few PEs, or many in a given array; some layers cannot read or make such maps."""
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine) and machine.engines is not None
    terms = {name: draw(st.sampled_from([True, True, False])) for name in ("inputs_ahead", "kernel_parts")}
    machine = machine.model_copy(update={"engines": machine.engines.model_copy(update=terms)})
    side, images = draw(st.sampled_from([3, 7, 12])), draw(st.sampled_from([1, 1, 2]))
    made = [draw(st.sampled_from(THIN)) for _ in range(4)]
    read = [draw(st.sampled_from(THIN)), made[0], made[0], made[1] + made[2]]
    layers = []
    for at in range(4):
        kernel = draw(st.sampled_from([1, 1, 3]))
        pads = ((kernel // 2, kernel // 2),) * 2
        square = ((side, side), (side, side), (kernel, kernel))
        layers.append(
            OverlayLayer(f"conv{at}", f"conv{at}", "Conv", images, read[at], made[at], *square, pads=pads)
        )
    ahead = frozenset({1, 2, 3})
    running = Running((), ahead, overlapping=draw(st.frozensets(st.just(2))))
    stores = (
        Store("conv0", images, side**2, (Share(0, made[0]),), (1, 2), planes=True),
        Store(
            "concat",
            images,
            side**2,
            (Share(1, made[1]), Share(2, made[2])),
            (3,),
            planes=draw(st.booleans()),
        ),
    )
    network = OverlayNetwork("planar", machine, tuple(layers), stores, running=running)
    array = draw(st.sampled_from([None, (1, 3), (5, 7), (16, 64), (64, 16)]))
    problem = SelectionProblem(network, max_pes=3 if array is None else 0, array=array)
    pins = {
        layer.name: Pin(
            draw(st.frozensets(st.sampled_from(problem.algorithms(at)), min_size=1, max_size=2)),
            draw(st.frozensets(st.sampled_from(DATAFLOWS), min_size=1, max_size=1 + (at == 1))),
            frozenset({1}),
        )
        for at, layer in enumerate(layers)
    }
    stored = draw(st.sampled_from([{}, {}, {"conv0": "planes"}, {"conv0": "tensor3d"}]))
    return replace(problem, pins=pins, stores=stored, objective=draw(st.sampled_from(OBJECTIVES[:2])))
