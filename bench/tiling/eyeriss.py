"""AlexNet as the Eyeriss chip runs it, beside the chip's own figures [Chen2017], [Dave2019, Fig. 8].

Nothing here is chosen for the figures: the shapes of the processing passes are the publication's table of mapping
parameters, and each can be checked: R*e*r*t PEs are active, p*q*S words of filters fit 224, q*S of input 12 and p of
partial sums 24 in each PE.

    python -m bench.tiling.eyeriss             # the table
    python -m bench.tiling.eyeriss --mappings  # the mappings, for mapper evaluate --mapping
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import yaml

from mapper.arch.source import load_machine
from mapper.models.tiling.cost import TilingCost, evaluate, quantities
from mapper.models.tiling.mapping import TilingMapping
from mapper.models.tiling.tile import networks_of
from mapper.models.tiling.transfer import Passes, streamed_pass_cycles
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.source import load_network


@dataclass(frozen=True)
class Pass:
    """Mapping parameters of a layer: ``e`` rows of output side by side (a strip), ``p`` filters and ``q`` channels in
    each PE, ``r`` and ``t`` sets of PEs for other channels and filters, ``n`` images in a processing pass, ``m``
    filters whose partial sums the global buffer holds; and the chip's figures: active PEs, and its latency (ms)
    while it processes, and with what it waits for DRAM, and what its global buffer gives and takes (MB)."""

    e: int
    p: int
    q: int
    r: int
    t: int
    n: int
    m: int
    active: int
    processing_ms: float
    total_ms: float
    buffer_mb: float


PASSES = {
    "conv1": Pass(7, 16, 1, 1, 2, 1, 96, 154, 16.5, 20.9, 18.5),
    "conv2": Pass(27, 16, 2, 1, 1, 1, 64, 135, 39.2, 41.9, 77.6),
    "conv3": Pass(13, 16, 4, 1, 4, 4, 64, 156, 21.8, 23.6, 50.2),
    "conv4": Pass(13, 16, 3, 2, 2, 4, 64, 156, 16.0, 18.4, 37.4),
    "conv5": Pass(13, 16, 3, 2, 2, 4, 64, 156, 10.0, 10.5, 24.9),
}
STRIPS = {"conv1": {"Oy": 56}}
"""55 rows of output are no multiple of a strip of 7: the last strip is not full, and takes as long."""


def nests() -> dict[str, LoopNest]:
    """The layers, padded to whole strips."""
    layers = load_network("alexnet-eyeriss", None).layers
    return {layer.name: layer.nest.padded(STRIPS.get(layer.name, {})) for layer in layers}


def mapping_of(name: str, nest: LoopNest) -> TilingMapping:
    """The row-stationary mapping of a layer: a row of the filter and a window of the input in each PE, rows of the
    filter down the array and rows of the output across it; images, and filters of the same m, one after another.

    The global buffer of this kind has no place of its own for the next pass's filters. Those of conv1's 96 do not fit
    beside their partial sums, so conv1 holds a pass's filters with all three channels instead of one channel's with
    all filters: the passes are the same.
    """
    one, bounds = PASSES[name], nest.trip_counts
    first = name == "conv1"
    channels = bounds["C"] // one.q // one.r
    filters = 1 if first else one.m // one.p // one.t
    factors = {
        "N": (bounds["N"] // one.n, one.n, 1, 1),
        "M": (bounds["M"] // one.p // one.t // filters, filters, one.p, one.t),
        "C": (1, channels, one.q, one.r) if first else (channels, 1, one.q, one.r),
        "Ox": (1, bounds["Ox"], 1, 1),
        "Oy": (bounds["Oy"] // one.e, 1, 1, one.e),
        "Fx": (1, 1, bounds["Fx"], 1),
        "Fy": (1, 1, 1, bounds["Fy"]),
    }
    dram = ("Fy", "Fx", "Ox", "N", "Oy", "C", "M") if first else ("Fy", "Fx", "Ox", "N", "Oy", "M", "C")
    spm = ("Fy", "Fx", "Oy", "M", "C", "N", "Ox")
    return TilingMapping(nest.loops, tuple(factors[loop] for loop in nest.loops), dram, spm)


def costs() -> dict[str, TilingCost]:
    """What the model says of each layer on eyeriss-168."""
    machine, _ = load_machine("eyeriss-168")
    return {name: evaluate(nest, machine, mapping_of(name, nest)) for name, nest in nests().items()}


def processing_ms(cost: TilingCost) -> float:
    """Milliseconds without DMA, as the chip's publication counts them."""
    return (cost.processing_cycles or 0) * cost.latency_ms / cost.cycles


def buffer_mb(cost: TilingCost) -> float:
    """What the global buffer gives to PEs and takes from them, in MB of 16-bit words."""
    return sum(words["spm"] for words in cost.words.values()) * 2 / 1e6


def adding_ms(name: str, nest: LoopNest) -> float:
    """The same if the one adder of a PE took a cycle more for each partial sum that a neighbour hands on."""
    machine, _ = load_machine("eyeriss-168")
    q = quantities(nest, machine, mapping_of(name, nest))
    assert q.streams is not None
    read, write, _ = networks_of(nest, machine)
    passes = Passes(q.rf_passes, q.spm_passes, q.spm_reuse, q.dram_reuse)
    longer = q.compute_cycles + PASSES[name].p
    streams, networks = q.streams, len(machine.noc.networks)
    cycles = streamed_pass_cycles(
        longer,
        passes,
        q.noc_cycles,
        streams.noc_cycles,
        streams.turns,
        streams.waited_for,
        read,
        write,
        networks,
        [0] * len(read),
    )
    return cycles * q.spm_passes / (machine.clock_mhz * 1e3)


def _table() -> None:
    found, layers = costs(), nests()
    print(
        "| layer | PEs | chip, processing | model | off | chip, with DRAM | model | off | chip's buffer | model | off |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    totals = [0.0] * 6
    for name, one in PASSES.items():
        cost = found[name]
        figures = [one.processing_ms, processing_ms(cost), one.total_ms, cost.latency_ms, one.buffer_mb]
        figures.append(buffer_mb(cost))
        totals = [total + figure for total, figure in zip(totals, figures, strict=True)]
        _row(name, str(one.active), figures)
    _row("total", "", totals)
    for name, one in PASSES.items():
        slower = adding_ms(name, layers[name])
        print(
            f"{name}: {slower:.2f} ms ({slower / one.processing_ms - 1:+.1%}) with a cycle for each sum handed on"
        )


def _row(name: str, active: str, figures: list[float]) -> None:
    """The chip's figures, each before the model's."""
    cells = []
    for chip, model, unit in zip(figures[::2], figures[1::2], ("ms", "ms", "MB"), strict=True):
        cells += [f"{chip:.1f} {unit}", f"{model:.2f} {unit}", f"{model / chip - 1:+.1%}"]
    print(f"| {name} | {active} | {' | '.join(cells)} |")


def document() -> dict[str, object]:
    """The mappings of all layers, as ``mapper evaluate`` reads them."""
    parts = [{"name": name, "mapping": mapping_of(name, nest).to_json()} for name, nest in nests().items()]
    return {"schema": "mapper.solution/1", "parts": parts}


if __name__ == "__main__":
    if "--mappings" in sys.argv[1:]:
        print(yaml.safe_dump(document(), sort_keys=False, default_flow_style=None, width=110), end="")
    else:
        _table()
