"""Machines and nests that the tests of the tiling model share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import mapper.arch.dataflow
from mapper.arch.dataflow import DataflowMachine, dataflow_from_document
from mapper.models.tiling.mapping import TilingMapping
from mapper.workloads.nest.layer_nest import Convolution, convolution_nest
from mapper.workloads.nest.loop_nest import Access, AffineIndex, LoopNest, Operand

PRESETS = Path(mapper.arch.dataflow.__file__).parent / "presets"

MachineOf = Callable[..., DataflowMachine]
NestOf = Callable[..., LoopNest]
Tiled = Callable[..., TilingMapping]


@pytest.fixture(scope="session")
def machine_of() -> MachineOf:
    """``dmazerunner-256`` with sections replaced: ``machine_of(rf={"double_buffered": False})``."""

    def build(**sections: dict[str, Any]) -> DataflowMachine:
        document = yaml.safe_load((PRESETS / "dmazerunner-256.yaml").read_text(encoding="utf-8"))
        for section, changes in sections.items():
            document[section] = document[section] | changes
        return dataflow_from_document(document, "test")

    return build


@pytest.fixture(scope="session")
def machine(machine_of: MachineOf) -> DataflowMachine:
    return machine_of()


@pytest.fixture(scope="session")
def nest_of() -> NestOf:
    """A nest of bounds and accesses: ``nest_of({"I": 4, "K": 8}, O=("I", "update"), A=("I K", "read"))``."""

    def build(bounds: dict[str, int], zero_initialised: bool = True, **accesses: tuple[str, str]) -> LoopNest:
        operands = []
        for name, (text, use) in accesses.items():
            index = tuple(AffineIndex.parse(part, tuple(bounds), "test", name) for part in text.split())
            access: Access = "read_write" if use == "update" else "write" if use == "write" else "read"
            extents = tuple(dimension.span(bounds) for dimension in index)
            operands.append(Operand(name, index, access, extents, zero_initialised))
        return LoopNest("test", tuple(bounds.items()), tuple(operands))

    return build


@pytest.fixture(scope="session")
def conv5_1() -> LoopNest:
    """ResNet's conv5_1 at batch 4: stride 2, input stored 16x16 with padding, of which 15x15 is touched."""
    shape = Convolution(4, 512, 256, (14, 14), (3, 3), (2, 2), (1, 1), ((1, 1), (1, 1)))
    return convolution_nest("conv5_1", shape)


@pytest.fixture(scope="session")
def tiled() -> Tiled:
    """A mapping from the inner levels; what is left of a bound runs at DRAM.

    ``tiled(nest, dram="I J K", spm="I J K", K={"rf": 4})``: orders outer to inner, loops not named outermost.
    """

    def build(nest: LoopNest, dram: str = "", spm: str = "", **levels: dict[str, int]) -> TilingMapping:
        factors = []
        for loop, bound in nest.bounds:
            inner = levels.get(loop, {})
            at_spm, at_rf, in_space = (inner.get(level, 1) for level in ("spm", "rf", "spatial"))
            factors.append((bound // (at_spm * at_rf * in_space), at_spm, at_rf, in_space))
        orders = [
            tuple(loop for loop in nest.loops if loop not in text.split()) + tuple(text.split())
            for text in (dram, spm)
        ]
        return TilingMapping(nest.loops, tuple(factors), *orders)

    return build
