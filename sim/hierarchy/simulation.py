"""The simulator of mappings onto a memory hierarchy: runs one on real integers, and charges what its tiles did.

It shares no code with the model but for what tensors are called.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mapper.arch.hierarchy import HierarchyMachine
from mapper.models.hierarchy.mapping import HierarchyMapping
from mapper.models.hierarchy.role import tensor_roles
from mapper.models.tiling.padding import paddable_loops
from mapper.sim.hierarchy.charge import STEPS, Charged, Ledger, Work, charged
from mapper.sim.hierarchy.dataflow import Dataflow
from mapper.sim.hierarchy.traffic import Layout, Traffic, layout, traffic
from mapper.sim.hierarchy.uneven import Uneven, moments, uneven_traffic
from mapper.sim.tiling.reference import Array, initial_tensors, reference_output, within, zero_padded
from mapper.sim.tiling.size import check_size
from mapper.sim.tiling.statement import number_type
from mapper.workloads.document import InputError
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.tensor import tensors


@dataclass(frozen=True)
class Simulation:
    """One run of a mapping.

    ``outputs_equal``: whether the result equals the reference's to the last bit; ``max_error``: the largest difference
    of a word; ``checksum``: sum of the result's words times their position from 1, modulo 2^64. ``accesses`` by level
    and tensor, of all instances; ``steps_of`` energies in 1e-9 pJ, ``cycles_of`` each level and computing.
    """

    outputs_equal: bool
    max_error: int
    checksum: int
    charged: Charged
    accesses: dict[str, dict[str, dict[str, int]]]
    tiles: dict[str, dict[str, int]]
    utilisation: float
    latency_ms: float | None
    area_mm2: float | None

    def cost_json(self) -> dict[str, Any]:
        steps, cycles = self.charged.steps, self.charged.cycles
        return {
            "energy_pj": None if steps is None else steps / STEPS,
            "cycles": cycles,
            "edp_pj_cycles": None if steps is None else steps * cycles / STEPS,
            "latency_ms": self.latency_ms,
            "utilisation": self.utilisation,
            "area_mm2": self.area_mm2,
        }

    def to_json(self) -> dict[str, Any]:
        energies = {
            level: {tensor: steps / STEPS for tensor, steps in own.items()}
            for level, own in (self.charged.steps_of or {}).items()
        }
        return {
            "outputs_equal": self.outputs_equal,
            "max_error": self.max_error,
            "checksum": f"{self.checksum:016x}",
            "cost_simulated": self.cost_json(),
            "breakdown_simulated": {
                "energy_pj": energies if self.charged.steps_of is not None else None,
                "accesses": self.accesses,
                "cycles": self.charged.cycles_of,
                "tiles": self.tiles,
            },
        }


def simulate(
    nest: LoopNest, machine: HierarchyMachine, mapping: HierarchyMapping, seed: int = 0
) -> Simulation:
    """Run ``mapping`` on seeded integers, whether or not its tiles fit the machine. What is padded runs on zeros, and
    the result is compared where the nest as written has one. Last passes that are smaller are counted as they are; for
    the numbers alone, words beyond their ends are zeros too.

    Raises: InputError if the run is too large to simulate, or last passes are smaller whose numbers zeros would change.
    """
    written, nest = nest, nest.padded(dict(mapping.padded))
    beyond = _beyond(nest, mapping)
    check_size(beyond)
    own = layout(beyond, mapping)
    if mapping.is_perfect:
        ledger, work = _ledger(own, machine, mapping), _work(own)
    else:
        ledger = _uneven_ledger(nest, machine, mapping)
        work = Work(nest.iterations, moments(nest, mapping), _work(own).units)
    costs = charged(work, machine, ledger)
    output, expected = _computed(own, mapping, written, seed)
    words = output.reshape(-1).astype(np.uint64)
    names = [level.name for level in machine.levels]
    return Simulation(
        outputs_equal=bool(np.array_equal(output, expected)),
        max_error=_largest_difference(output, expected),
        checksum=int((words * np.arange(1, len(words) + 1, dtype=np.uint64)).sum(dtype=np.uint64)),
        charged=costs,
        accesses={
            name: {tensor: one.together for tensor, one in kept.items()}
            for name, kept in zip(names, ledger, strict=True)
        },
        tiles={
            name: {tensor: one.words for tensor, one in kept.items()}
            for name, kept in zip(names, ledger, strict=True)
        },
        utilisation=written.iterations / (machine.units * machine.compute.rate * costs.cycles),
        latency_ms=None if machine.clock_mhz is None else costs.cycles / (machine.clock_mhz * 1e3),
        area_mm2=machine.area_mm2,
    )


def _beyond(nest: LoopNest, mapping: HierarchyMapping) -> LoopNest:
    """The nest as far as whole passes of all loops reach."""
    reach = {loop: mapping.trips(loop) for loop, bound in nest.bounds if mapping.trips(loop) > bound}
    stuck = sorted(set(reach) - set(paddable_loops(nest)))
    if stuck:
        remedy = f"zeros beyond the end of {stuck[0]} would change the result; mapper generate runs its passes as C"
        raise InputError("simulate", nest.name, remedy)
    return nest.padded(reach)


def _work(own: Layout) -> Work:
    in_turn = math.prod(loop.trips for loop in own.loops if not loop.axis)
    units = math.prod(loop.trips for loop in own.loops if loop.axis)
    return Work(in_turn * units, in_turn, units)


def _uneven_ledger(nest: LoopNest, machine: HierarchyMachine, mapping: HierarchyMapping) -> Ledger:
    """Traffic by level, tensors in the order of `_ledger`."""
    roles = tensor_roles(nest)
    ledger: list[dict[str, Traffic | Uneven]] = [{} for _ in machine.levels]
    for operand in sorted(nest.operands, key=lambda one: "WIO".index(roles[one.name])):
        for level, one in enumerate(uneven_traffic(nest, mapping, operand, machine)):
            if one is not None:
                ledger[level][operand.name] = one
    return ledger


def _ledger(own: Layout, machine: HierarchyMachine, mapping: HierarchyMapping) -> Ledger:
    """Traffic by level, tensors in the order in which sums in floating point take them: weights, inputs, outputs."""
    roles = tensor_roles(own.nest)
    ledger: list[dict[str, Traffic | Uneven]] = [{} for _ in machine.levels]
    for operand in sorted(own.nest.operands, key=lambda one: "WIO".index(roles[one.name])):
        kept = [operand.name in level.keep for level in mapping.levels]
        for level, one in enumerate(traffic(own, operand, kept, machine)):
            if one is not None:
                ledger[level][operand.name] = one
    return ledger


def _computed(own: Layout, mapping: HierarchyMapping, written: LoopNest, seed: int) -> tuple[Array, Array]:
    """What the mapping makes of the written tensor, and what it ought to be."""
    inputs = initial_tensors(written, seed)
    expected = reference_output(written, inputs)
    data = zero_padded(written, own.nest, inputs)
    known = {operand: tensor for tensor in tensors(own.nest) for operand in tensor.operands}
    kind = number_type(own.nest)
    arrays = {name: values.astype(kind) for name, values in data.items()}
    ordered = [known[place] for place in range(len(own.nest.operands))]
    Dataflow(own, mapping, [arrays[one.name] for one in ordered], [one.low for one in ordered]).run()
    result = next(tensor.name for tensor in tensors(own.nest) if tensor.written)
    return within(written, own.nest, arrays[result].astype(np.int64)), expected


def _largest_difference(output: Array, expected: Array) -> int:
    differing = np.flatnonzero(output.reshape(-1) != expected.reshape(-1))
    pairs = zip(output.reshape(-1)[differing].tolist(), expected.reshape(-1)[differing].tolist(), strict=True)
    return max((abs(ours - theirs) for ours, theirs in pairs), default=0)
