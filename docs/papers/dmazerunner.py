"""Dave et al. 2019, dMazeRunner [Dave2019]: Table 2, Figs. 6, 8, 9, 11, 12, Table 4, Observations (i) and (ii)."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import permutations

from bench.measure import layer_problems
from bench.tiling.memory_sweep import LAYERS, RF_BYTES, SPM_BYTES, best, design, layer_sweep
from bench.tiling.memory_sweep import PAPER as TABLE_4
from bench.tiling.pruning import STEPS, counts_of
from docs.papers.dmazerunner_dataflow import OLDER, mechanisms, prior_dataflows
from docs.papers.dmazerunner_eyeriss import cycles
from docs.papers.dmazerunner_public import designs, energies
from docs.papers.drawing import bars, lines
from docs.papers.row import Drawing, Found, Item, Paper, Row, Value, beside
from mapper.formulations.tiling.problem import TilingProblem
from mapper.models.tiling.order import reuse_factors, unique_orders
from mapper.solver.method import Effort
from mapper.solver.tiling.exact.branch_and_bound import branch_and_bound
from mapper.workloads.nest.loop_nest import AffineIndex, LoopNest, Operand

TABLE_2 = {
    "M": "I: M", "M Ox": "W: Ox", "M Oy": "W: Oy", "M N": "W: N", "M Oy Ox": "W: Oy Ox", "M N Ox": "W: N Ox",
    "M N Oy": "W: N Oy", "N Oy Ox": "W: N Oy Ox", "M Fx": "O: Fx", "M Fy": "O: Fy", "M C": "O: C",
    "M Fy Fx": "O: Fy Fx", "M C Fx": "O: C Fx", "M C Fy": "O: C Fy", "C Fy Fx": "O: C Fy Fx",
}  # fmt: skip
"""Innermost loops of a schedule, and which operand is reused over which loops."""
PRIMES = (2, 3, 5, 7, 11, 13, 17)
FIG_11 = {"all": "2.12e9", "OPT1": "2.57e6", "OPT1-2": "1.28e6", "OPT1-3": "2.35e5"}
OF_LAYERS = {"conv5_2": ("1.75e7", 753, 0), "conv5_1": ("1.42e7", 877, 5), "conv4_2": ("1.8e8", None, None)}
"""Tilings, tilings after OPT 1 to 3, and percent that the least EDP grows by."""
NORMALISED = {
    "256, 512k": ("1", "1", "1.10", "1.11", "1.08", "1.05", "1"),
    "256, 1024k": ("1.16", "1.03", "1", "1", "1", "1.03", "1.04"),
}
"""Table 4: EDP of the two best designs over that of the layer's best, and of all layers together."""
RESTRICTED, FULL = "opt1+opt2+opt3", "branch-and-bound"
WITH_STRIDED = (
    "the sum includes conv1 and conv5_1; the paper's values for them use an older, unpublished burst rule"
)
WHERE_STRIDED = {"conv1": OLDER, "conv5_1": OLDER, "total": WITH_STRIDED}


def convolution() -> LoopNest:
    """The seven loops of a convolution."""
    return layer_problems("edp")["conv5_2"].nest


def fig_6() -> LoopNest:
    """The nest of Fig. 6: W invariant of n, I of m, O of c and fy."""
    bounds = (("n", 2), ("m", 8), ("c", 4), ("fy", 3))

    def operand(name: str, loops: str, access: str) -> Operand:
        index = tuple(AffineIndex(((loop, 1),)) for loop in loops.split())
        shape = tuple(dict(bounds)[loop] for loop in loops.split())
        return Operand(name, index, access, shape)  # type: ignore[arg-type]

    operands = (
        operand("O", "n m", "read_write"),
        operand("I", "n c fy", "read"),
        operand("W", "m c fy", "read"),
    )
    return LoopNest("fig-6", bounds, operands)


def reused(nest: LoopNest, order: tuple[str, ...]) -> str:
    """Which operand an order reuses over which loops, by Algorithm 1 with trip counts that tell loops apart."""
    counts = dict(zip(nest.loops, PRIMES, strict=True))
    factors = reuse_factors(nest, order, counts)
    return "; ".join(
        f"{operand.name}: " + " ".join(loop for loop in order if factor % counts[loop] == 0)
        for operand, factor in zip(nest.operands, factors, strict=True)
        if factor > 1
    )


def orders() -> Found:
    """Algorithms 1 and 2."""
    small, nest = fig_6(), convolution()
    fetched = reuse_factors(small, ("m", "c", "fy", "n"), small.trip_counts)[2]
    counts = dict(zip(nest.loops, PRIMES, strict=True))
    every = {reuse_factors(nest, order, counts) for order in permutations(nest.loops)}
    rows = [
        Row("Fig. 6", "orders", 24, "", math.factorial(len(small.loops))),
        Row("Fig. 6", "orders with unique reuse", 5, "", len(unique_orders(small))),
        Row("Fig. 6", "fetches of W with n innermost", 96, "of 192", small.iterations // fetched),
        Row("Section 4.2.1", "orders of a convolution", 5040, "", math.factorial(len(nest.loops))),
        Row("Section 4.2.1", "orders with unique reuse", 15, "", len(unique_orders(nest))),
        Row("Section 4.2.1", "reuses by all 5040 orders", 15, "", len(every)),
    ]  # fmt: skip
    for schedule, said in TABLE_2.items():
        inner = tuple(schedule.split())
        order = (*(loop for loop in nest.loops if loop not in inner), *inner)
        rows.append(
            Row(
                "Table 2",
                f"reuse of {{..., {schedule.lower().replace(' ', ', ')}}}",
                said,
                "",
                reused(nest, order),
            )
        )
    return Found(tuple(rows))


def pruning() -> Found:
    """Tilings by step, and what the pruned search loses."""
    problems = layer_problems("edp")
    counts = {name: counts_of(problem) for name, problem in problems.items()}
    least = {step: {name: _least(problem, step) for name, problem in problems.items()} for step in STEPS}
    totals = {step: sum(one[step] for one in counts.values()) for step in STEPS}
    late = "for an unknown reason; with OPT2 and OPT3 the counts agree again"
    rows = [
        Row("Fig. 11", f"tilings, {step}", Decimal(said), "", totals[step], late if step == "OPT1" else "")
        for step, said in FIG_11.items()
    ]
    rows.append(
        Row(
            "Fig. 11", "fewer tilings by OPT1-3", Decimal("9.02e3"), "times", totals["all"] / totals["OPT1-3"]
        )
    )
    for step, said in (("OPT1", "2"), ("OPT1-3", "2.56")):
        loss = 100 * (sum(least[step].values()) / sum(least["all"].values()) - 1)
        rows.append(Row("Fig. 11", f"EDP lost by {step}", Decimal(said), "%", loss, WITH_STRIDED))
    for name, (every, kept, lost) in OF_LAYERS.items():
        rows.append(Row("Section 6.3", f"tilings of {name}", Decimal(every), "", counts[name]["all"]))
        if kept is not None and lost is not None:
            rows.append(Row("Section 6.3", f"tilings of {name}, OPT1-3", kept, "", counts[name]["OPT1-3"]))
            loss = 100 * (least["OPT1-3"][name] / least["all"][name] - 1)
            rows.append(
                Row("Section 6.3", f"EDP of {name} lost by OPT1-3", lost, "%", loss, OLDER if lost else "")
            )
    groups = {name: {step: float(count) for step, count in steps.items()} for name, steps in counts.items()}
    picture = bars(
        "Fig. 11: tilings of each layer by step of the pruning.", "tilings", groups, "dm11", log=True
    )
    return Found(tuple(rows), (picture,))


def _least(problem: TilingProblem, step: str) -> float:
    return branch_and_bound(problem, Effort(), STEPS[step]).value or 0


def memories() -> Found:
    """Table 4 and Fig. 12 under OPT1-3, as in the paper."""
    values = swept(RESTRICTED)
    rows = []
    for at, name in enumerate((*LAYERS, "total")):
        said, edp = TABLE_4[name]
        found, least = best(list(values[name].items()))
        rows.append(_row(name, "best <RF, SPM>", f"<{said}>", "bytes", f"<{found}>"))
        rows.append(_row(name, "EDP", Decimal(f"{edp:.2e}"), "pJ cycles", least))
        over = least if name != "total" else values[name]["256, 512k"]
        for machine, ratio in NORMALISED.items():
            rows.append(
                _row(name, f"EDP on <{machine}>", Decimal(ratio[at]), "times", values[name][machine] / over)
            )
    return Found(
        tuple(rows), (sweep_picture(values["total"], "Fig. 12, under OPT1-3 as in the paper", "dm12r"),)
    )


def _row(layer: str, quantity: str, published: Value, unit: str, computed: Value) -> Row:
    """A row of Table 4; only where strided layers count may it differ."""
    words = f"{quantity}, {layer}"
    if layer in WHERE_STRIDED:
        return beside("Table 4", words, published, unit, computed, WHERE_STRIDED[layer])
    return Row("Table 4", words, published, unit, computed)


def memories_proven() -> Found:
    """The same over the full space."""
    values = swept(FULL)
    why = "the paper only searched under OPT1-3; the full space holds better mappings"
    rows = []
    for name in (*LAYERS, "total"):
        found, least = best(list(values[name].items()))
        rows.append(Row("Table 4, full space", f"best <RF, SPM> of {name}", None, "bytes", f"<{found}>", why))
        rows.append(Row("Table 4, full space", f"EDP of {name}", None, "pJ cycles", least, why))
    return Found(
        tuple(rows), (sweep_picture(values["total"], "Fig. 12, over the full space, proven", "dm12f"),)
    )


def swept(method: str) -> dict[str, dict[str, float]]:
    """Least EDP by layer and machine, and the sum over the layers where all of them have a mapping."""
    values: dict[str, dict[str, float]] = {}
    for layer in LAYERS:
        found = layer_sweep(method, layer).rows
        values[layer] = {design(row): float(row.certificate.value or 0) for row in found if row.cost}
        assert method == RESTRICTED or all(row.certificate.proven for row in found)
    everywhere = [name for name in values[LAYERS[0]] if all(name in one for one in values.values())]
    values["total"] = {name: sum(values[layer][name] for layer in LAYERS) for name in everywhere}
    return values


def sweep_picture(totals: dict[str, float], caption: str, prefix: str) -> Drawing:
    """EDP over RF sizes, a line for each SPM size."""
    series = {}
    for kilobytes in (size // 1024 for size in SPM_BYTES):
        known = [(str(rf), totals.get(f"{rf}, {kilobytes}k")) for rf in RF_BYTES]
        series[f"SPM {kilobytes} kB"] = [(rf, value) for rf, value in known if value is not None]
    shown = {name: points for name, points in series.items() if points}
    return lines(f"{caption}: EDP of the six layers.", ("bytes of RF", "pJ cycles"), shown, prefix)


def beyond() -> Found:
    """What cannot be computed from what is public."""
    yang = "the paper does not give the mappings and energies of the tool with which it compares"
    return Found(
        (
            Row("Fig. 10", "energy saved at most", Decimal("30.84"), "%", None, yang),
            Row("Fig. 10", "energy saved on average", Decimal("15.55"), "%", None, yang),
        )
    )


LAYERS_OF = "The six ResNet layers, batch 4, on dmazerunner-256"
PAPER = Paper(
    "dmazerunner",
    "Dave et al. 2019: dMazeRunner",
    "Left out: Tables 1 and 3 (tools, notation) and Figs. 1 to 5 (structure), which have no values.",
    (
        Item("Fig. 6, Table 2", "Reuse by Algorithm 1, unique orders by Algorithm 2.", 60, orders),
        Item("Fig. 7", "21 tilings of conv5_2 by Yang et al., each in its best orders.", 60, energies),
        Item("Fig. 8", "AlexNet on eyeriss-168 in the mappings of the chip's publication.", 60, cycles),
        Item("Fig. 10", "A comparison with another tool.", 60, beyond),
        Item("Fig. 9(a)", f"{LAYERS_OF}; optima proven.", 300, prior_dataflows),
        Item("Fig. 9(b)", f"{LAYERS_OF}; 126 searches, each proven.", 300, mechanisms),
        Item("Fig. 11", f"{LAYERS_OF}; every valid tiling counted, optima proven.", 180, pruning),
        Item("Table 4, Fig. 12", f"{LAYERS_OF} with 49 memory sizes; exact under OPT1-3.", 600, memories),
        Item(
            "Fig. 12, authors' sheets", f"{LAYERS_OF} with 49 memory sizes; exact under OPT1-3.", 600, designs
        ),
        Item(
            "Table 4, Fig. 12, full space",
            f"{LAYERS_OF} with 49 memory sizes; each proven.",
            900,
            memories_proven,
        ),
    ),
)
