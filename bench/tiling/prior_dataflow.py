"""Prior dataflows against optima [Dave2019, Fig. 9]: value over the least EDP of the same mechanism and of all.

The paper: 9.16 times the EDP and 5.83 times the cycles over prior dataflows on average, 44.47 and 18.72 times
for SOC on conv5_2. The prior mappings themselves are not published; each is rebuilt from the paper's sentences
(see solver/tiling/heuristic/prior_dataflow.py), and SOC on conv5_1 then moves exactly the DRAM words the paper states.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bench.measure import layer_problems, show
from mapper.formulations.tiling.problem import Pins, TilingProblem
from mapper.models.tiling.cost import TilingCost, evaluate
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.tiling.heuristic.prior_dataflow import PRIOR_DATAFLOWS

MECHANISM = {"soc": "Oy,Ox", "moc": "Oy,Ox", "ws1": "Fy,Fx", "ws2": "M,C", "rs": "Oy,Fy"}
FURTHER = (
    "N,M", "N,C", "N,Oy", "N,Ox", "M,Oy", "M,Ox", "M,Fy", "M,Fx", "C,Oy", "C,Ox", "C,Fy", "C,Fx", "Oy,Fx",
    "Ox,Fy", "Ox,Fx", "N,Fy", "N,Fx",
)  # fmt: skip
PAPER = (9.16, 5.83)


def cost_of(method: Method[TilingProblem, TilingMapping], problem: TilingProblem) -> TilingCost | None:
    """Cost of what a method finds."""
    mapping = method.search(problem, Effort()).mapping
    return None if mapping is None else evaluate(problem.nest, problem.machine, mapping)


def pinned(problem: TilingProblem, mechanism: str) -> TilingProblem:
    """The problem with the mechanism's loops, and perhaps more, in space."""
    return replace(problem, pins=Pins.parse({"spatial": f"{mechanism},*"}, problem.nest))


def ratios(
    prior: Mapping[str, TilingCost | None], reference: Mapping[str, TilingCost | None]
) -> tuple[float, float]:
    """EDP and cycles of ``prior`` over those of ``reference``, summed over the layers that both map."""
    known = [(prior[name], reference[name]) for name in prior]
    pairs = [(p, r) for p, r in known if p is not None and r is not None]
    return (
        sum(p.edp_pj_cycles for p, _ in pairs) / sum(r.edp_pj_cycles for _, r in pairs),
        sum(p.cycles for p, _ in pairs) / sum(r.cycles for _, r in pairs),
    )


def main() -> None:
    """Print both tables."""
    BRANCH_AND_BOUND.prepare()
    problems = layer_problems("edp")
    best = {name: cost_of(BRANCH_AND_BOUND, problem) for name, problem in problems.items()}
    lines, means = [], []
    for method in PRIOR_DATAFLOWS:
        prior = {name: cost_of(method, problem) for name, problem in problems.items()}
        same = {
            name: cost_of(BRANCH_AND_BOUND, pinned(problem, MECHANISM[method.name]))
            for name, problem in problems.items()
        }
        values = [ratio for reference in (same, best) for ratio in ratios(prior, reference)]
        means.append(values)
        missing = [name for name in problems if prior[name] is None or same[name] is None]
        lines.append([method.name, *[f"{ratio:.2f}" for ratio in values], ", ".join(missing) or "–"])
    averages = [sum(column) / len(means) for column in zip(*means, strict=True)]
    lines.append(["mean", *[f"{ratio:.2f}" for ratio in averages], f"paper: {PAPER[0]} and {PAPER[1]}"])
    heading = [
        "prior",
        "EDP / mechanism's",
        "cycles / mechanism's",
        "EDP / optimum",
        "cycles / optimum",
        "no mapping",
    ]
    show("Sums over the six layers (Fig. 9a):", heading, lines)

    lines = []
    for mechanism in ("Oy,Ox", "Fy,Fx", "M,C", "Oy,Fy", *FURTHER):
        cells = []
        for name, problem in problems.items():
            found = cost_of(BRANCH_AND_BOUND, pinned(problem, mechanism))
            least = best[name]
            assert least is not None
            cells.append("–" if found is None else f"{found.edp_pj_cycles / least.edp_pj_cycles:.2f}")
        lines.append([mechanism.replace(",", "|"), *cells])
    show("Least EDP by mechanism over the least of all, proven (Fig. 9b):", ["mechanism", *problems], lines)


if __name__ == "__main__":
    main()
