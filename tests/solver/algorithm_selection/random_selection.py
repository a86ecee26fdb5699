"""Random small networks as ONNX has them, and problems of algorithm selection with few enough selections to try all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from mapper.formulations.algorithm_selection.problem import OBJECTIVES, Pin, SelectionProblem
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.layer import ALGORITHMS, DATAFLOWS
from mapper.models.algorithm_selection.overlay.order import ordered
from mapper.solver.algorithm_selection.exact.joint import joint
from mapper.solver.algorithm_selection.heuristic.algorithm_one import ALGORITHM_ONE
from mapper.solver.method import Effort
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerNetwork
from tests.sim.trace_partition.onnx_layer import layers, model, node
from tests.solver.algorithm_selection.random_overlay import machines

KERNELS = ((1, 1), (1, 1), (3, 3), (3, 3), (3, 3), (2, 2), (1, 3), (5, 5))
POOLS = ((2, 1, 0), (2, 1, 0), (2, 2, 0), (3, 2, 1), (3, 1, 0), (2, 2, 1))
"""Side, step and padding of max pools."""
TIMES = (0.9, 1.0, 1.2, 1.5, 2.0)
"""Of the least latency, how long an inference may take."""
TRIES = 6


@dataclass(frozen=True)
class _Tensor:
    name: str
    channels: int
    size: tuple[int, int]


class _Net:
    """A network under construction; every layer reads any tensor there is."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        side = st.sampled_from([1, 2, 3, 4, 5, 6, 7, 11])
        self.shape = draw(st.sampled_from([1, 1, 2])), draw(st.integers(1, 4)), draw(side), draw(side)
        self.made = [_Tensor("x", self.shape[1], self.shape[2:])]
        self.nodes: list[Any] = []
        self.weights: dict[str, Any] = {}

    def network(self) -> LayerNetwork:
        return layers(model(self.nodes, self.shape, self.weights))

    def convolution(self, source: _Tensor) -> None:
        """Strides, also above the kernel, dilations, uneven padding, groups up to one for each channel; some with an
        activation or a pool."""
        draw, name = self.draw, f"c{len(self.nodes)}"
        kernel = draw(st.sampled_from(KERNELS))
        square = st.sampled_from([1, 1, 1, 2])
        stride = draw(st.sampled_from([1, 1, 1, 2, 3, 7]))
        dilation = draw(square) if max(kernel) == 3 else 1
        spans = [(k - 1) * dilation + 1 for k in kernel]
        least = [max(0, span - side) for span, side in zip(spans, source.size, strict=True)]
        pads = [max(draw(st.integers(0, k // 2)), need) for k, need in zip(kernel, least, strict=True)]
        ends = [draw(st.integers(0, k // 2)) for k in kernel]
        sizes = zip(source.size, pads, ends, spans, strict=True)
        high, wide = ((length + before + after - span) // stride + 1 for length, before, after, span in sizes)
        groups = draw(st.sampled_from([1, 1, 1, *(g for g in (2, 4) if source.channels % g == 0)]))
        maps = groups * draw(st.integers(1, 4 // groups))
        self.weights[f"w{name}"] = np.zeros((maps, source.channels // groups, *kernel), np.float32)
        self._add(
            "Conv", [source.name, f"w{name}"], _Tensor(name, maps, (high, wide)), strides=[stride] * 2,
            dilations=[dilation] * 2, pads=[*pads, *ends], group=groups, kernel_shape=list(kernel),
        )  # fmt: skip
        after = draw(st.sampled_from(["", "", "Relu", "MaxPool"]))
        made = replace(self.made[-1], name=f"{name}a")
        if after == "Relu":
            self._add("Relu", [name], made)
        elif after and min(high, wide) > 1:
            side, step, pad = draw(st.sampled_from(POOLS))
            down, across = ((one + 2 * pad - side) // step + 1 for one in (high, wide))
            if min(down, across) > 0:
                self._add(
                    "MaxPool", [name], replace(made, size=(down, across)), kernel_shape=[side] * 2,
                    strides=[step] * 2, pads=[pad] * 4,
                )  # fmt: skip

    def joint(self) -> None:
        """Two tensors of one size, one after the other or added; without such there is nothing to join."""
        one = self.made[-1]
        alike = [other for other in self.made[1:-1] if other.size == one.size]
        if not alike:
            return
        other = self.draw(st.sampled_from(alike))
        name = f"j{len(self.nodes)}"
        if other.channels == one.channels and self.draw(st.booleans()):
            self._add("Add", [other.name, one.name], replace(one, name=name))
        else:
            both = replace(one, name=name, channels=one.channels + other.channels)
            self._add("Concat", [other.name, one.name], both, axis=1)

    def _add(self, op: str, inputs: list[str], made: _Tensor, **attributes: Any) -> None:
        self.nodes.append(node(op, inputs, [made.name], name=made.name, **attributes))
        self.made.append(made)


@st.composite
def layer_networks(draw: st.DrawFn) -> LayerNetwork:
    """One to three convolutions, one after another or side by side, some joined before the last."""
    net = _Net(draw)
    count = draw(st.integers(1, 3))
    for at in range(count):
        if at == count - 1:
            net.joint()
        net.convolution(net.made[-1] if draw(st.integers(0, 2)) else draw(st.sampled_from(net.made)))
    return net.network()


@st.composite
def problems(draw: st.DrawFn, lacking: bool = False) -> tuple[SelectionProblem, LayerNetwork]:
    """A problem of any objective, with the network that it was made of; pins and limits may leave nothing. Of a few
    draws the first is taken whose optimum is not on the array of Algorithm 1, the first heuristic, or, if some shall
    be ``lacking``, at times one that has none. Machines so dear that costs leave 64 bits are refused, and others drawn.
    """
    network = draw(layer_networks())
    unanswered = lacking and draw(st.sampled_from([False, False, False, False, True]))
    posed = None
    for _ in range(TRIES):
        try:
            posed = draw(_posed(network))
            if _missed(posed[0]) or (unanswered and joint(posed[0], Effort()).mapping is None):
                break
        except InputError as refused:
            assert "costs of small arrays leave 64 bits" in str(refused)
            posed = None
    return posed if posed is not None else reject()


@st.composite
def _posed(draw: st.DrawFn, network: LayerNetwork) -> tuple[SelectionProblem, LayerNetwork]:
    machine = draw(machines(ends=True))
    network = ordered(network, machine)
    overlay = overlay_network(network, machine)
    problem = SelectionProblem(overlay, max_pes=draw(st.sampled_from([1, 2, 3, 4, 5, 6])))
    pins = {}
    for at, layer in enumerate(overlay.layers):
        able = problem.algorithms(at) or ALGORITHMS  # Of a layer that fits no buffers, there is no selection.
        algorithms = draw(st.sets(st.sampled_from(able), min_size=1, max_size=2))
        flows = draw(st.sets(st.sampled_from(DATAFLOWS), min_size=1, max_size=3 - len(overlay.layers) // 2))
        pins[layer.name] = Pin(frozenset(algorithms), frozenset(flows))
    if draw(st.integers(0, 31)) == 0:
        pins[overlay.layers[0].name] = Pin(frozenset({"winograd"}))
    array = draw(st.sampled_from([None, None, None, None, None, None, (1, 1), (2, 1), (3, 2)]))
    problem = replace(problem, pins=pins, array=array)
    objective = draw(st.sampled_from(OBJECTIVES))
    longest = None
    if objective == "dsps" or (objective == "latency" and draw(st.integers(0, 3)) == 0):
        fastest = joint(problem, Effort()).mapping
        cost = None if fastest is None else verify(problem, fastest).cost
        longest = round((1000 if cost is None else cost.units) * draw(st.sampled_from(TIMES)))
    return replace(problem, objective=objective, longest_units=longest), network


def _missed(problem: SelectionProblem) -> bool:
    """Whether there is a selection and Algorithm 1 has not the best one."""
    best = joint(problem, Effort())
    return best.mapping is not None and ALGORITHM_ONE.search(problem, Effort()).value != best.value
