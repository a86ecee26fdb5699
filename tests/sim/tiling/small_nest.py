"""Small nests, machines and mappings that the tests of simulator and code generator share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

import mapper.arch.dataflow
from mapper.arch.dataflow import DataflowMachine, dataflow_from_document
from mapper.models.tiling.mapping import TilingMapping
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.nest_file import nest_from_document

PRESETS = Path(mapper.arch.dataflow.__file__).parent / "presets"
SMALL_NESTS: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("small_nest.yaml").read_text(encoding="utf-8")
)


def nest_of(name: str) -> LoopNest:
    """A nest by its name in ``small_nest.yaml``."""
    return nest_from_document({"schema": "mapper.nest/1", "name": name, **SMALL_NESTS[name]}, name)


def machine_of(preset: str = "dmazerunner-256", **sections: dict[str, Any]) -> DataflowMachine:
    """A preset with sections changed: ``machine_of("eyeriss-168-tiles", rf={"double_buffered": False})``."""
    document = yaml.safe_load((PRESETS / f"{preset}.yaml").read_text(encoding="utf-8"))
    for section, changes in sections.items():
        document[section] = document[section] | changes
    return dataflow_from_document(document, preset)


def mapping_of(nest: LoopNest, dram: str = "", spm: str = "", **levels: dict[str, int]) -> TilingMapping:
    """A mapping from its inner levels; what is left of a bound runs at DRAM.

    ``mapping_of(nest, dram="I K", K={"rf": 4})``: orders outer to inner, loops not named outermost.
    """
    factors = []
    for loop, bound in nest.bounds:
        at_spm, at_rf, in_space = (levels.get(loop, {}).get(level, 1) for level in ("spm", "rf", "spatial"))
        factors.append((bound // (at_spm * at_rf * in_space), at_spm, at_rf, in_space))
    orders = [
        tuple(loop for loop in nest.loops if loop not in text.split()) + tuple(text.split())
        for text in (dram, spm)
    ]
    return TilingMapping(nest.loops, tuple(factors), *orders)


@st.composite
def machines(draw: st.DrawFn) -> DataflowMachine:
    """Both presets under every setting of rules, buffers, networks and pipelining."""
    networks: list[dict[str, Any]] = [{"carries": "read"}, {"carries": "write", "width_words": 2}]
    for _ in range(draw(st.integers(0, 3))):
        carries = draw(st.sampled_from(["read", "write"]))
        networks.append({"carries": carries, "width_words": draw(st.integers(1, 3))})
    timing = draw(st.sampled_from(["steady", "timeline"]))
    return machine_of(
        draw(st.sampled_from(["dmazerunner-256", "eyeriss-168-tiles"])),
        rules={
            "timing": timing,
            "filling": "tiles" if timing == "timeline" else draw(st.sampled_from(["tiles", "streams"])),
            "stored_extent": draw(st.sampled_from(["declared", "touched"])),
            "partial_sums": draw(st.sampled_from(["doubled", "first_visit_free"])),
            "leaving_sums": draw(st.sampled_from(["exposed", "buffered"])),
            "energy": draw(st.sampled_from(["rounded", "exact"])),
        },
        rf={"double_buffered": draw(st.booleans())},
        spm={"double_buffered": draw(st.booleans())},
        pe_array={"pipelined": draw(st.booleans())},
        dma={"initiation_cycles": draw(st.sampled_from([0, 7, 291]))},
        noc={"networks": networks, "reduction": draw(st.sampled_from(["bus", "mesh"]))},
    )


@st.composite
def mappings(draw: st.DrawFn, nest: LoopNest) -> TilingMapping:
    """Every tiling and order of a nest that keeps loops with a dependence out of space."""

    def divisor(number: int) -> int:
        return draw(st.sampled_from([part for part in range(1, number + 1) if number % part == 0]))

    factors = []
    for loop, bound in nest.bounds:
        in_space = 1 if loop in nest.sequential_loops else divisor(bound)
        at_rf = divisor(bound // in_space)
        at_spm = divisor(bound // in_space // at_rf)
        factors.append((bound // in_space // at_rf // at_spm, at_spm, at_rf, in_space))
    orders = [tuple(draw(st.permutations(nest.loops))) for _ in range(2)]
    return TilingMapping(nest.loops, tuple(factors), *orders)
