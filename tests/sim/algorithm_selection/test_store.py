"""What is stored for several readers holds what each of them reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.sim.algorithm_selection import report
from mapper.solver.algorithm_selection.catalogue import AUTOMATIC
from mapper.solver.method import Effort
from mapper.workloads.source import load_layers


def shortcut_network(path: Path) -> str:
    """A map that a 1x1 convolution reads at every second position and another at all of them."""
    kernels = {"w1": (16, 8, 3, 3), "w2": (64, 16, 1, 1), "w3": (8, 16, 1, 1)}
    weights = [numpy_helper.from_array(np.ones(shape, np.float32), name) for name, shape in kernels.items()]
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["a", "w2"], ["b"], strides=[2, 2]),
        helper.make_node("Conv", ["a", "w3"], ["c"]),
    ]
    image = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 12, 12])
    results = [
        helper.make_tensor_value_info("b", TensorProto.FLOAT, [1, 64, 6, 6]),
        helper.make_tensor_value_info("c", TensorProto.FLOAT, [1, 8, 12, 12]),
    ]
    onnx.save(helper.make_model(helper.make_graph(nodes, "shortcut", [image], results, weights)), str(path))
    return str(path)


def test_a_map_read_at_every_second_position_and_at_all_of_them_loses_none(tmp_path: Path) -> None:
    layers = load_layers(shortcut_network(tmp_path / "shortcut.onnx"), None)
    machine, _ = load_machine("dynamap-u200-model")
    problem = SelectionProblem(overlay_network(layers, machine))  # type: ignore[arg-type]
    selection = AUTOMATIC.search(problem, Effort()).mapping
    assert selection is not None
    result = report(problem, selection, layers)
    assert result["outputs_equal"] and result["agrees"]
