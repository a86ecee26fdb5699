"""Joint optima of algorithm selection over all array shapes, the cost graph of one shape, and their CPU seconds.

The cost graph is solved for the best shape by the PBQP solver, which also says whether it is series-parallel.
"""

from __future__ import annotations

import argparse

from bench.measure import measure, show
from mapper.arch.overlay import OverlayMachine
from mapper.arch.source import load_machine
from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.formulations.algorithm_selection.program.cost_graph import GraphBuilder
from mapper.formulations.algorithm_selection.program.shape import shapes
from mapper.formulations.algorithm_selection.referee.verify import verify
from mapper.formulations.pbqp.problem import PbqpProblem
from mapper.models.algorithm_selection.overlay.building import overlay_network
from mapper.models.algorithm_selection.overlay.order import ordered
from mapper.solver.algorithm_selection.exact.joint import joint
from mapper.solver.method import Effort
from mapper.solver.pbqp.catalogue import METHODS
from mapper.solver.pbqp.reduction.series_parallel import reduce_graph
from mapper.workloads.source import load_layers

NETWORKS = (
    "googlenet",
    "googlenet-224",
    "inception-v2",
    "inception-v4",
    "resnet50",
    "squeezenet",
    "densenet121",
    "vgg19",
    "alexnet",
)
JOINT_TARGET, FIXED_TARGET = 5.0, 0.05


def main() -> None:
    """Print one line per network and objective, and the largest share of the targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--arch", default="dynamap-u200")
    given = parser.parse_args()
    machine, _ = load_machine(given.arch)
    assert isinstance(machine, OverlayMachine)
    METHODS["auto"].prepare()
    lines, slowest, slowest_fixed = [], 0.0, 0.0
    for name in given.networks:
        problem = SelectionProblem(overlay_network(ordered(load_layers(name), machine), machine))
        found = measure(lambda posed=problem: joint(posed, Effort()))  # type: ignore[misc]
        assert found.result.mapping is not None
        cost = verify(problem, found.result.mapping).cost
        assert cost is not None
        graph = GraphBuilder(problem).graph_at(found.result.mapping.array)
        instance = graph.instance(name)
        fixed = measure(lambda posed=instance: METHODS["auto"].search(PbqpProblem(posed), Effort()))  # type: ignore[misc]
        assert fixed.result.value is not None
        assert int(fixed.result.value) + graph.constant == cost.units, name
        rest = reduce_graph(instance.vertices, instance.edge_end)[2]
        slowest, slowest_fixed = max(slowest, found.cpu), max(slowest_fixed, fixed.cpu)
        rows, columns = found.result.mapping.array
        lines.append(
            [
                name,
                f"{instance.vertices}/{instance.edges}",
                "no" if len(rest) else "yes",
                f"{1000 * fixed.cpu:.2f}",
                f"{rows}x{columns}",
                f"{cost.cost_json()['latency_ms']:.4f}",
                "yes" if found.result.proven else "no",
                f"{found.result.evaluations}/{len(shapes(problem)[0])}",
                f"{found.cpu:.2f}",
            ]
        )
    heading = ["network", "vertices/edges", "series-parallel", "PBQP ms", "array", "latency ms", "proven"]
    show(f"Joint optima on {given.arch}:", [*heading, "shapes solved", "CPU s"], lines)
    print(f"slowest joint search: {slowest:.2f} s ({slowest / JOINT_TARGET:.2f} of the target)")
    print(f"slowest PBQP: {1000 * slowest_fixed:.1f} ms ({slowest_fixed / FIXED_TARGET:.2f} of the target)")


if __name__ == "__main__":
    main()
