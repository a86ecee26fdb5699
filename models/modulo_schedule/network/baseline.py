"""Layers whose sums stay in registers: with all of the paper's steps, and without any, which tuned ones are measured
against [Bae2018, sec. VII-A]."""

from __future__ import annotations

import math
from dataclasses import replace

from mapper.arch.cgra import CgraMachine
from mapper.models.modulo_schedule.network.algorithm import ARRAY_IM2COL, GEMM, IM2COL, REGISTERS, Algorithm
from mapper.models.modulo_schedule.network.nest import Nest
from mapper.models.modulo_schedule.network.way.layer import algorithms
from mapper.workloads.network.network_layer import NetworkLayer

BASELINE, IN_MEMORY = "register-baseline", "baseline"


def in_registers(known: tuple[Algorithm, ...]) -> tuple[Algorithm, ...]:
    """The matrix products among these algorithms with a block of their sums in registers while the loop over the depth
    runs: as many as the loops over outputs are unrolled."""
    return tuple(
        replace(one, name=f"{one.name}{REGISTERS}", nests=tuple(map(_held, one.nests)))
        for one in known
        if one.name in (GEMM, IM2COL, ARRAY_IM2COL)
    )


def _held(nest: Nest) -> Nest:
    return replace(nest, in_register=nest.names[-1] in nest.accumulated)


def baselines(layer: NetworkLayer, machine: CgraMachine) -> tuple[Algorithm, Algorithm]:
    """The layer without any of the paper's steps [Bae2018, sec. VII-A]: a convolution is a matrix product, and
    activations are called as functions, so that they run in VLIW mode.

    In the first a sum stays in a register while the innermost loop adds to it, as any compiler keeps it; in the second
    it goes through memory in every iteration, as Fig. 3(a) is written.
    """
    known = algorithms(layer, machine)
    plain = next((one for one in known if one.name in (GEMM, IM2COL)), known[0])
    kept = tuple(nest for nest in plain.nests if nest.name != "activation")
    called = len(plain.nests) - len(kept)
    elements = plain.elements + called * math.prod(layer.output_shape)
    in_memory = replace(plain, name=IN_MEMORY, nests=kept, elements=elements)
    return replace(in_memory, name=BASELINE, nests=tuple(map(_held, kept))), in_memory
