"""Heidorn et al. 2019 [Heidorn2019]: Table 1, Fig. 7, Figs. 4 to 6, the examples of sections 5 and 7, Algorithms 1
to 3."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import mapper
from docs.papers.drawing import bars
from docs.papers.row import Drawing, Found, Item, Paper, Row
from mapper.api.solution import Solution
from mapper.arch.tcpa import TcpaMachine, tcpa_from_document, tcpa_preset
from mapper.formulations.pe_allocation.problem import AllocationProblem
from mapper.kind.part import Options
from mapper.kind.pe_allocation.kind import NamedAllocation
from mapper.kind.pe_allocation.picture import allocation_picture
from mapper.models.pe_allocation.calculus import position_cycles
from mapper.models.pe_allocation.cost import evaluate
from mapper.models.pe_allocation.mapping import Allocation
from mapper.models.pe_allocation.storage import (
    fused_words,
    intermediate_words,
    receptive_fields,
    sequential_words,
)
from mapper.models.pe_allocation.stream.layer import StreamNetwork, stream_network
from mapper.workloads.source import load_layers

NETWORK = "mnist-tcpa"
SAME_PES = {"mode": "layer-by-layer", "conv0.pes": "4", "pool1.pes": "1", "conv2.pes": "8", "pool3.pes": "1",
            "conv4.pes": "2"}  # fmt: skip
COLUMNS: tuple[tuple[str, str, dict[str, str], str, int, str], ...] = (
    ("layer-by-layer (1)", "tcpa-4x4", SAME_PES, "calculus", 159_936, "312.6"),
    ("layer-by-layer (2)", "tcpa-4x4", {"mode": "layer-by-layer"}, "lanes", 55_664, "898.2"),
    ("layer-parallel (1)", "tcpa-4x4", {}, "calculus", 66_528, "787.4"),
    ("layer-parallel (2)", "tcpa-4x5", {"conv2.pes": "12"}, "calculus", 44_496, "1181.0"),
)
"""Table 1: column, array, what is fixed, model, cycles, frames a second."""
LANES = "the rule of --model lanes, which the paper does not state, was made so that it gives this column"
FIG_7 = {
    "z_in": {"pool1": 216, "conv2": 216, "pool3": 1296, "conv4": 1296},
    "z_out": {"conv0": 54, "pool1": 216, "conv2": 324, "pool3": 1296, "conv4": 1296},
    "t": {"conv0": 0, "pool1": 216, "conv2": 432, "pool3": 1728, "conv4": 3024},
}
PES = {"conv0": 4, "pool1": 1, "conv2": 8, "pool3": 1, "conv4": 2}


def network() -> StreamNetwork:
    """The paper's network, Fig. 1(b)."""
    return stream_network(load_layers(NETWORK, None))


def machine() -> TcpaMachine:
    """The array of 4x4 PEs, 50 MHz, two functional units."""
    document = tcpa_preset("tcpa-4x4")
    assert document is not None
    return tcpa_from_document(document, "tcpa-4x4")


def solved(arch: str = "tcpa-4x4", objective: str = "throughput", **options: object) -> Solution:
    """The best allocation of the paper's network, by the paper's calculus unless another ``model`` is named.

    Raises: AssertionError if it is not proven.
    """
    given = {"model": "calculus", **options}
    solution = mapper.solve(NETWORK, arch, objective, Options(**given))  # type: ignore[arg-type]
    assert solution.certificate.proven and solution.certificate.verified
    return solution


def allocation_of(solution: Solution) -> Allocation:
    """The allocation that a solution holds."""
    named = solution.parts[0].mapping
    assert isinstance(named, NamedAllocation)
    return named.allocation


def table_1() -> Found:
    """The four columns of Table 1."""
    rows = []
    for name, arch, fixed, model, cycles, throughput in COLUMNS:
        cost = solved(arch, fix=fixed, model=model).cost
        assert cost is not None
        place, fitted = f"Table 1, {name}", LANES if model == "lanes" else ""
        said = Decimal(throughput)
        rows.append(Row(place, "latency L", cycles, "cycles", cost["cycles"], fitted=fitted))
        rows.append(Row(place, "throughput T", said, "frames/s", cost["throughput_fps"], fitted=fitted))
    printed = solved(fix={"mode": "layer-by-layer"}).cost
    assert printed is not None
    why = "by Eq. 4 as printed; Table 1's value follows only if units are lanes over output maps (model lanes, above)"
    rows.append(
        Row("Table 1, layer-by-layer (2)", "latency L by Eq. 4", 55_664, "cycles", printed["cycles"], why)
    )
    fewest = solved(objective="pes", min_throughput=787.35).cost
    assert fewest is not None
    why = "the paper's allocation is by heuristic; proven: 3 PEs suffice for conv0, with a latency of 66,672 cycles"
    rows.append(Row("Table 1, layer-parallel (1)", "PEs for 787.35 frames/s", 16, "PEs", fewest["pes"], why))
    return Found(tuple(rows))


def figure_7() -> Found:
    """Rates matched layer after layer, start times, and the allocation drawn."""
    net = network()
    allocation = allocation_of(solved())
    cost = evaluate(net, machine(), allocation, "calculus")
    plain = dict(zip(net.names, (position_cycles(net.layers[at], allocation.pes[at], allocation.delta[at])
                                 for at in range(len(net.names))), strict=True))  # fmt: skip
    timed = dict(zip(net.names, cost.timed, strict=True))
    pes = dict(zip(net.names, allocation.pes, strict=True))
    rows = [Row("Fig. 6(a)", f"PEs of {name}", count, "PEs", pes[name]) for name, count in PES.items()]
    rows.append(Row("Section 6", "z_out of pool1 before it is adjusted", 48, "cycles", plain["pool1"]))
    for name, cycles in FIG_7["z_in"].items():
        rows.append(Row("Fig. 7", f"z_in of {name}", cycles, "cycles", timed[name].z_in))
    for name, cycles in FIG_7["z_out"].items():
        rows.append(Row("Fig. 7", f"z_out of {name}, adjusted", cycles, "cycles", timed[name].z_out))
    for name, cycles in FIG_7["t"].items():
        rows.append(Row("Fig. 7", f"start t of {name}", cycles, "cycles", timed[name].start))
    rows.append(Row("Fig. 7", "latency L of conv4", 63_504, "cycles", timed["conv4"].latency))
    rows.append(Row("Fig. 7", "overall latency L", 66_528, "cycles", cost.cycles))
    problem = AllocationProblem(net, machine(), "throughput", "calculus", "layer-parallel", None, 0)
    grid, gantt = (one.find("div/svg") for one in allocation_picture(problem, allocation, "tcpa")[:2])
    assert grid is not None and gantt is not None
    drawn = (
        Drawing(grid, "Fig. 6(a): the layers on the 4x4 array, placed with the least wiring."),
        Drawing(gantt, "Fig. 5(b): when each layer works on the first frames."),
    )
    return Found(tuple(rows), drawn)


def storage() -> Found:
    """Receptive fields and buffers, Eqs. 2 and 14 to 17."""
    net = network()
    everything = range(len(net.layers))
    fields = receptive_fields(net, everything)
    words = [intermediate_words(layer, fields[at]) for at, layer in enumerate(net.layers)]
    held = dict(zip(net.names, words, strict=True))
    rows = [
        Row("Section 5.4, example", "receptive field D of conv2", 8, "pixels", fields[2][0]),
        Row("Section 5.4, example", "buffer of pool1", 24, "bytes", held["pool1"]),
        Row("Section 5.4, example", "buffer of pool3", 24, "bytes", held["pool3"]),
        Row("Section 5.4, example", "buffer of conv2", Decimal("2.35"), "kB", held["conv2"] / 1000),
        Row("Section 5.4, example", "buffer of conv4", 336, "bytes", held["conv4"]),
    ]
    alone = [sequential_words(net, layer) for layer in net.layers]
    weights = [layer.weight_words for layer in net.layers]
    why = "the bars of Fig. 4 have no values"
    for place, total in (
        ("Fig. 4(a), largest layer", max(alone)),
        ("Fig. 4(b), all layers", sum(fused_words(net, everything))),
    ):
        rows.append(Row(place, "storage at 8 bits", None, "bytes", total, why))
    groups = {
        name: {"one by one": alone[at], "all at once": words[at] + weights[at]}
        for at, name in enumerate(net.names)
    }
    picture = bars(
        "Fig. 4: storage of each layer, weights among it, at 8 bits.", "bytes", groups, "tcpa4", log=True
    )
    return Found(tuple(rows), (picture,))


def hundred_frames() -> Found:
    """Fewest PEs for 100 frames a second, section 7."""
    net, allocation = network(), allocation_of(solved(objective="pes", min_throughput=100))
    last = net.layers[-1]
    most = Fraction(machine().clock_hz, last.positions * 100 * position_cycles(last, last.filters, 2))
    rows = [Row("Section 7, example", "W of conv4 (Eq. 20)", Decimal("94.5"), "filters", float(most))]
    for name, count, found in zip(net.names, (1, 1, 2, 1, 1), allocation.pes, strict=True):
        rows.append(Row("Section 7, example", f"PEs of {name}", count, "PEs", found))
    rows.append(Row("Section 7, example", "all PEs", 6, "PEs", sum(allocation.pes)))
    return Found(tuple(rows))


def simulation() -> Found:
    """The calculus beside the event simulator, and the three algorithms."""
    report = mapper.simulate(solved().to_json())["parts"][0]
    latency, found = report["physical"]["latency"], report["algorithms"]
    why = "measured: a 3x3 window waits for two rows and two pixels, where Eq. 7 counts one new pixel"
    rows = [
        Row("Section 6, Eq. 12", "latency L, measured", latency["model"], "cycles", latency["measured"], why),
        Row("Algorithms 1 to 3", "equal outputs", "yes", "", "yes" if found["outputs_equal"] else "no"),
    ]
    for name, layer in found["layers"].items():
        for which, cycles in layer["cycles"].items():
            said = which.replace("_", " ").capitalize()
            rows.append(Row(f"{said}, Eq. 4", f"cycles of {name}", layer["model"][which], "cycles", cycles))
    why = "the paper ranks them and gives no cycles"
    for name, start in found["layers"]["conv0"]["following"]["start"].items():
        rows.append(
            Row(name.replace("_", " ").capitalize(), "the next layer starts", None, "cycle", start, why)
        )
    return Found(tuple(rows))


PAPER = Paper(
    "tcpa",
    "Heidorn et al. 2019: CNNs on tightly coupled processor arrays",
    "Left out: Figs. 1 to 3 (structure), which have no values except those of the network itself.",
    (
        Item(
            "Table 1",
            "Each column solved to proven optimality under its mode by the paper's calculus (--model calculus), the "
            "second with units as lanes (--model lanes); 50 MHz, two units a PE.",
            60,
            table_1,
        ),
        Item("Figs. 5 to 7", "The most throughput on 16 PEs, proven; --model calculus.", 60, figure_7),
        Item(
            "Section 5.4, Fig. 4",
            "Buffers by Eqs. 2 and 14 to 17 (--model calculus), one byte a word.",
            60,
            storage,
        ),
        Item(
            "Section 7", "Fewest PEs for 100 frames a second, proven; --model calculus.", 60, hundred_frames
        ),
        Item(
            "Algorithms 1 to 3",
            "Simulators beside --model calculus; what they say of the default stands under "
            "\u201cWhat solve reports\u201d below.",
            60,
            simulation,
        ),
    ),
)
