"""Networks on the generated Verilog: its cycles beside the model's, in all and of the layer that is furthest off."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bench.measure import show
from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.codegen.algorithm_selection import overlay_files
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.kind.algorithm_selection.part import limits
from mapper.models.algorithm_selection.control.selection import selection_control
from mapper.models.algorithm_selection.layer_cause import causes
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.order import ordered
from mapper.sim.algorithm_selection.rtl.network import report_rtl
from mapper.solver.algorithm_selection.exact.joint import joint
from mapper.solver.method import Effort
from mapper.workloads.network.builder import NetworkBuilder
from mapper.workloads.network.network_layer import LayerNetwork
from mapper.workloads.source import load_layers

RUNS = ("lenet5:16x16", "mnist-tcpa:3x21", "cifar10:16x16", "inception-3a:32x16", "inception-3a-3b:95x64")
"""SqueezeNet on 32x16 PEs (`squeezenet:32x16`) takes minutes."""
MODULES = ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64))
"""Maps of GoogLeNet's 3a and 3b: 1x1; before and of 3x3; before and of 5x5; after the pool."""


def main() -> None:
    """Print a line per network and array."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", default=list(RUNS), metavar="NETWORK:ROWSxCOLUMNS")
    lines = [_line(*one.split(":")) for one in parser.parse_args().runs]
    head = ["network", "array", "words", "Verilog", "model", "off", "furthest layer", "off", "beside it"]
    show("The generated Verilog beside the model", head, lines)


def _line(name: str, text: str) -> list[str]:
    rows, columns = map(int, text.split("x"))
    machine, _ = load_machine("dynamap-u200")
    assert isinstance(machine, OverlayMachine)
    network = OWN[name]() if name in OWN else load_layers(name)
    network = ordered(network, machine)
    problem = replace(SelectionProblem(overlay_network(network, machine)), array=(rows, columns))
    found = joint(problem, Effort()).mapping
    assert found is not None
    cost = verify(problem, found).cost
    assert cost is not None
    control, kept = selection_control(network, problem.network, found), limits(problem.network, found)
    files = overlay_files(control, network, limits=kept)
    said = report_rtl(control, network, files, cost.cycles, causes(problem.network, found))
    furthest = max(said["layers"], key=lambda layer: abs(said["layers"][layer]["off"] or 0))
    return [
        name,
        text,
        "equal" if said["outputs_equal"] else "differ",
        f"{said['cycles']:,}",
        f"{cost.cycles:,}",
        f"{said['cycles'] / cost.cycles - 1:+.2%}",
        furthest,
        f"{said['layers'][furthest]['off'] or 0:+.2%}",
        ", ".join(said["beside"]),
    ]


def modules(count: int) -> LayerNetwork:
    """The first inception modules of GoogLeNet, on its maps of 27 x 27."""
    net = NetworkBuilder("inception", 192, 27, 27)
    data = net.input
    for number, (plain, before3, of3, before5, of5, pooled) in enumerate(MODULES[:count]):

        def branch(data: str, name: str, maps: int, kernel: int, number: int = number) -> str:
            made = net.convolution(data, f"{name}.{number}", maps, kernel, pad=kernel // 2)
            return net.apply("Relu", f"{name}.relu.{number}", made)

        parts = [branch(data, "one", plain, 1)]
        parts.append(branch(branch(data, "before3", before3, 1), "three", of3, 3))
        parts.append(branch(branch(data, "before5", before5, 1), "five", of5, 5))
        parts.append(branch(net.pool(data, f"pool.{number}", 3, 1, 1), "pooled", pooled, 1))
        data = net.concatenation(f"whole.{number}", parts)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "inception.onnx"
        path.write_bytes(net.model(data, 1).SerializeToString())
        return load_layers(str(path))


OWN: dict[str, Callable[[], LayerNetwork]] = {
    "inception-3a": lambda: modules(1),
    "inception-3a-3b": lambda: modules(2),
}

if __name__ == "__main__":
    main()
