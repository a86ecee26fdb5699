"""How far the published model's optimum is from the physical one, with two scratch-pad buffers and with one."""

from __future__ import annotations

from functools import partial

from bench.measure import layer_problems, measure, show
from mapper.arch.dataflow import PHYSICAL_RULES, DataflowMachine
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.cost import evaluate
from mapper.solver.method import Effort
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND, branch_and_bound


def simple(machine: DataflowMachine) -> DataflowMachine:
    """The machine with one scratch-pad buffer, as large as what was visible of two."""
    size = machine.spm.bytes // 2
    pad = machine.spm.model_copy(update={"bytes": size, "double_buffered": False})
    return machine.model_copy(update={"spm": pad, "name": f"{machine.name}, one buffer"})


def main() -> None:
    """Print the tables."""
    for buffers in ("two scratch-pad buffers of 64 kB", "one of 64 kB"):
        lines, totals, cycles = [], [0.0, 0.0, 0.0], [0, 0, 0]
        for name, posed in layer_problems("edp").items():
            machine = posed.machine if buffers.startswith("two") else simple(posed.machine)
            physical = machine.model_copy(update={"rules": PHYSICAL_RULES})
            published = branch_and_bound(TilingProblem(posed.nest, machine, "edp"), Effort()).mapping
            timed = TilingProblem(posed.nest, physical, "edp")
            branch_and_bound(timed, Effort())
            run = measure(partial(branch_and_bound, timed, Effort()))
            assert published is not None and run.result.mapping is not None
            costs = [
                evaluate(posed.nest, machine, published),
                evaluate(posed.nest, physical, published),
                evaluate(posed.nest, physical, run.result.mapping),
            ]
            values = [float(cost.edp_pj_cycles) for cost in costs]
            totals = [total + value for total, value in zip(totals, values, strict=True)]
            cycles = [total + cost.cycles for total, cost in zip(cycles, costs, strict=True)]
            proven = "yes" if run.result.proven else "NO"
            shown = [f"{value:.4e}" for value in values]
            lines.append([name, *shown, f"{values[1] / values[2]:.3f}", proven, f"{run.cpu:.2f}"])
        lines.append(["total", *(f"{total:.4e}" for total in totals), f"{totals[1] / totals[2]:.3f}", "", ""])
        lines.append(["cycles", *(f"{total:,}" for total in cycles), f"{cycles[1] / cycles[2]:.3f}", "", ""])
        heading = ["layer", "published", "the same, physical", "least physical", "ratio", "proven", "CPU s"]
        show(f"Least EDP (pJ*cycles) with {buffers}:", heading, lines)


if __name__ == "__main__":
    BRANCH_AND_BOUND.prepare()
    main()
