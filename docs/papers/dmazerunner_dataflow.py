"""Dave et al. 2019, dMazeRunner [Dave2019]: prior dataflows and mechanisms, Fig. 9 and Observations (i) and (ii)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal

from bench.measure import layer_problems
from bench.tiling.prior_dataflow import FURTHER, MECHANISM, PAPER, cost_of, pinned, ratios
from docs.papers.drawing import bars
from docs.papers.row import Found, Row, beside
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.cost import TilingCost, evaluate, quantities
from mapper.models.tiling.mapping import TilingMapping
from mapper.solver.method import Effort, Method
from mapper.solver.tiling.exact.branch_and_bound import BRANCH_AND_BOUND
from mapper.solver.tiling.heuristic.prior_dataflow import PRIOR_DATAFLOWS

OLDER = "a strided layer: the paper's values come from an older burst rule that is not public"
PRIOR = "the paper does not say which tilings the prior dataflows used; here a rule fills the memories"
BARS = "the bars of the figure have no values"


def prior_dataflows() -> Found:
    """Prior dataflows over the optimum of their mechanism, and the two observations."""
    problems = layer_problems("edp")
    rows, means, groups = [], [], {}
    for method in PRIOR_DATAFLOWS:
        prior = {name: cost_of(method, problem) for name, problem in problems.items()}
        same = {
            name: cost_of(BRANCH_AND_BOUND, pinned(one, MECHANISM[method.name]))
            for name, one in problems.items()
        }
        edp, cycles = ratios(prior, same)
        means.append((edp, cycles))
        label = f"{method.name.upper()} over {MECHANISM[method.name].replace(',', '|')}"
        rows.append(Row("Fig. 9(a)", f"EDP of {label}", None, "times", edp, BARS))
        rows.append(Row("Fig. 9(a)", f"cycles of {label}", None, "times", cycles, BARS))
        groups[label] = {"prior": _sum(prior), "least EDP of the mechanism": _sum(same)}
        if method.name == "soc":
            layer = ratios({"conv5_2": prior["conv5_2"]}, {"conv5_2": same["conv5_2"]})
            rows.append(
                Row("Observation (i)", "EDP of SOC, conv5_2", Decimal("44.47"), "times", layer[0], PRIOR)
            )
            rows.append(
                Row("Observation (i)", "cycles of SOC, conv5_2", Decimal("18.72"), "times", layer[1], PRIOR)
            )
    for what, said, found in zip(("EDP", "cycles"), PAPER, zip(*means, strict=True), strict=True):
        rows.append(
            Row("Fig. 9(a)", f"{what}, mean of the five", Decimal(str(said)), "times", sum(found) / 5, PRIOR)
        )
    picture = bars("Fig. 9(a): EDP summed over the six layers.", "pJ cycles", groups, "dm9a", log=True)
    return Found((*rows, *_observations(problems)), (picture,))


def _sum(costs: Mapping[str, TilingCost | None]) -> float:
    return float(sum(cost.edp_pj_cycles for cost in costs.values() if cost is not None))


def _observations(problems: Mapping[str, TilingProblem]) -> list[Row]:
    """Observation (i): PEs and RF in use; Observation (ii): tiles in SPM, how often they are fetched, traffic."""
    prior = {method.name: method for method in PRIOR_DATAFLOWS}
    strided, stride_1 = problems["conv5_1"], problems["conv5_2"]
    soc = _mapping(prior["soc"], strided)
    words = sum(quantities(strided.nest, strided.machine, soc).rf_words)
    on_14 = _mapping(prior["soc"], problems["conv4_2"])
    used = math.prod(on_14.trip_counts("spatial").values()) / strided.machine.pes
    rows = [
        Row("Observation (i)", "PEs used by 14x14 outputs", 76, "%", 100 * used),
        Row("Observation (i)", "RF used by SOC, conv5_1", 436, "bytes", words * strided.machine.word_bytes),
    ]
    optimum = _mapping(BRANCH_AND_BOUND, pinned(strided, "Oy,Ox"))
    said = {
        "SOC": (soc, ("28", "18", "1.5"), (512, 512, 128), ("14.74", "9.44", "0.2")),
        "least EDP": (optimum, ("14.06", "18", "12.25"), (256, 256, 16), ("3.68", "4.7", "0.2")),
    }
    for label, (mapping, tiles, passes, moved) in said.items():
        found = quantities(strided.nest, strided.machine, mapping)
        cost = evaluate(strided.nest, strided.machine, mapping)
        names = [operand.name for operand in strided.nest.operands]
        for operand, tile, times, megabytes in zip("IWO", tiles, passes, moved, strict=True):
            at = names.index(operand)
            values = (
                ("tile in SPM", Decimal(tile), "kB", found.spm_words[at] * strided.machine.word_bytes / 1024),
                ("tile fetched", times, "times", found.spm_passes // found.dram_reuse[at]),
                ("DRAM traffic", Decimal(megabytes), "MB", cost.words[operand]["dram"] * 2 / 1e6),
            )
            for what, published, unit, computed in values:
                quantity = f"{what}, {operand}, {label} under Oy|Ox, conv5_1"
                rows.append(beside("Observation (ii)", quantity, published, unit, computed, OLDER))
    both = [
        quantities(stride_1.nest, stride_1.machine, mapping)
        for mapping in (_mapping(prior["ws2"], stride_1), _mapping(BRANCH_AND_BOUND, pinned(stride_1, "M,C")))
    ]
    moves = [one.spm_words[0] * (one.spm_passes // one.dram_reuse[0]) for one in both]
    quantity = "O to DRAM, WS2 over least EDP, conv5_2"
    rows.append(Row("Observation (ii)", quantity, 16, "times", moves[0] / moves[1]))
    return rows


def _mapping(method: Method[TilingProblem, TilingMapping], problem: TilingProblem) -> TilingMapping:
    mapping = method.search(problem, Effort()).mapping
    assert mapping is not None, f"{method.name} finds nothing"
    return mapping


def mechanisms() -> Found:
    """The least EDP of 21 mechanisms, each proven, over the least of all."""
    problems = layer_problems("edp")
    best = {name: cost_of(BRANCH_AND_BOUND, problem) for name, problem in problems.items()}
    rows, groups = [], {}
    for mechanism in (*dict.fromkeys(MECHANISM.values()), *FURTHER):
        found = {name: cost_of(BRANCH_AND_BOUND, pinned(one, mechanism)) for name, one in problems.items()}
        label = mechanism.replace(",", "|")
        edp, cycles = ratios(found, best)
        groups[label] = {"EDP": edp, "cycles": cycles}
        rows.append(Row("Fig. 9(b)", f"least EDP under {label}", None, "of the least", edp, BARS))
    caption = "Fig. 9(b): each mechanism's least EDP, and its cycles, over those of the least EDP of all."
    return Found(tuple(rows), (bars(caption, "times", groups, "dm9b", log=True),))
