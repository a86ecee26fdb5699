"""What a box costs before it is scheduled: operations by class, MII, and est_cycles = MII * iterations [Bae2018, V-C3].

The counts follow from the accesses alone, so that thousands of unroll vectors are weighed in the time in which
one kernel is scheduled. They equal those of the kernel that the front end makes of the box's text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from mapper.arch.cgra import CgraMachine, Pe
from mapper.models.modulo_schedule.bound import fullest_pes
from mapper.models.modulo_schedule.network.cost import LiveIns
from mapper.models.modulo_schedule.network.nest import Access, Nest
from mapper.workloads.document import InputError

FLOAT_OPERATIONS: dict[str, tuple[str, ...]] = {
    "multiply_add": ("fmul", "fadd"), "max": ("fmax",), "sum": ("fadd",), "fill": (), "copy": (),
    "relu": ("fmax",), "leaky_relu": ("fmul", "fmax"), "clip": ("fmax", "fmin"), "scale": ("fdiv",),
    "affine": ("fmul", "fadd"), "add": ("fadd",), "subtract": ("fsub",), "multiply": ("fmul",),
    "larger": ("fmax",), "window": ("fmul", "fadd"), "transform": ("fmul", "fadd", "fsub"),
    "dot": ("fmul", "fadd"),
}  # fmt: skip
"""Per operation of a nest what one copy of the body computes."""


@dataclass(frozen=True)
class Counts:
    """Operations of an unrolled body by opcode (``others``: all but loads, stores and additions to indices),
    live-ins of its set-up, cycles along its longest path, and those of its recurrence beyond counting indices
    (through memory, or of a merged loop's column; 0 without one)."""

    loads: int
    stores: int
    pointers: int
    others: tuple[tuple[str, int], ...]
    live_ins: LiveIns
    depth: int
    recurrence: int

    @property
    def operations(self) -> int:
        return self.loads + self.stores + self.pointers + sum(count for _, count in self.others)


def counts(nest: Nest, unroll: Mapping[str, int], innermost: str, machine: CgraMachine) -> Counts:
    """What the kernel of an unroll vector holds; latencies are the machine's."""
    if nest.window is not None:
        return _window_counts(nest, unroll, machine)
    along = tuple(name for name in nest.names if name not in nest.accumulated)
    outputs = math.prod(unroll[name] for name in along)
    summed = math.prod(unroll[name] for name in nest.accumulated)
    loads, live_ins, arrays = 0, 0, {nest.output.array}
    strides: set[int] = set()
    for access in nest.inputs:
        words = _words(access, unroll)
        if access.stride(innermost):
            loads += words
            arrays.add(access.array)
            if nest.merged is None:
                strides.add(access.stride(innermost) * unroll[innermost])
        else:
            live_ins += words
    step = nest.output.stride(innermost) * unroll[innermost]
    if nest.in_register:
        live_ins += outputs
    elif nest.accumulated:
        loads += outputs
        strides.add(step)
    taps = len(nest.inputs[-1].taps)
    per_output = [(opcode, outputs * summed) for opcode in FLOAT_OPERATIONS[nest.operation]]
    if nest.operation in ("max", "sum"):
        opcode = per_output[0][0]
        per_output = [(opcode, outputs * (summed * taps - (0 if nest.accumulated else 1)))]
        per_output += [("fdiv", outputs)] if nest.numbers else []
    if nest.operation == "dot":
        per_output = [(opcode, outputs * taps) for opcode, _ in per_output]
    if nest.transform is not None:
        per_output = [(opcode, outputs * count) for opcode, count in nest.transform.opcodes.items()]
    floats = tuple((opcode, count) for opcode, count in per_output if count)
    chain = _chain(nest, summed * taps, machine)
    loaded = machine.latency("load") if loads else 0
    inner_sum = innermost in nest.accumulated
    recurrence = 0
    if nest.in_register:
        recurrence = _sum_latency(nest, summed * taps, machine)
    elif inner_sum:
        recurrence = machine.latency("load") + _sum_latency(nest, summed * taps, machine) + 1
    elif nest.merged is not None:
        # The column is counted, compared and chosen before the next one can be.
        recurrence = sum(machine.latency(opcode) for opcode in ("add", "ge", "select"))
        floats = (*floats, ("ge", 1), ("select", 2))
    return Counts(
        loads=loads,
        stores=outputs * len(nest.output.taps),
        pointers=len(strides - {0}) + bool(step) + (0 if nest.merged is None else 3),
        others=floats,
        live_ins=LiveIns(live_ins, len(arrays)),
        depth=bool(strides - {0}) + loaded + chain,
        recurrence=recurrence,
    )


def estimated_cycles(interval: int, iterations: int) -> int:
    """est_cycles_total = MII * iter_total [Bae2018, sec. V-C3]."""
    return interval * iterations


class Estimator:
    """MII of unrolled bodies on one machine."""

    def __init__(self, machine: CgraMachine) -> None:
        self.machine = machine
        self._able: dict[str, frozenset[Pe]] = {}
        self._known: dict[tuple[object, ...], int] = {}

    def least_interval(self, counted: Counts) -> int:
        """MII of such a body: its resources, or its recurrence.

        Raises: InputError if no PE can execute an operation.
        """
        parts = (
            ("load", counted.loads),
            ("store", counted.stores),
            ("add", counted.pointers),
            *counted.others,
        )
        if parts not in self._known:
            self._known[parts] = self._resources(dict(parts))
        return max(self._known[parts], counted.recurrence)

    def _resources(self, counted: dict[str, int]) -> int:
        users: dict[frozenset[Pe], int] = {}
        for opcode, count in counted.items():
            if count:
                users[self._pes(opcode)] = users.get(self._pes(opcode), 0) + count
        bound = max(1, math.ceil(fullest_pes(users)[0]))
        ports = self.machine.memory_ports
        return bound if ports is None else max(bound, -(-(counted["load"] + counted["store"]) // ports))

    def _pes(self, opcode: str) -> frozenset[Pe]:
        if opcode not in self._able:
            machine = self.machine
            able = frozenset(pe for pe in machine.all_pes if machine.can_execute(pe, opcode))
            if not able:
                raise InputError(machine.name, "pes", f"no PE executes {opcode}; give one that unit")
            self._able[opcode] = able
        return self._able[opcode]


def _words(access: Access, unroll: Mapping[str, int]) -> int:
    """Different words that the copies of a body touch.

    A loop whose stride is beyond what all smaller ones reach repeats what they touch elsewhere. Only those below the
    last loop of which that is not so are listed.
    """
    loops = [
        (stride, unroll[name]) for stride, name in sorted((stride, name) for name, stride in access.strides)
    ]
    reach, overlapping = max(access.taps) - min(access.taps), 0
    for place, (stride, count) in enumerate(loops):
        if stride <= reach:
            overlapping = place + 1
        reach += stride * (count - 1)
    touched = set(access.taps)
    for stride, count in loops[:overlapping]:
        touched = {word + stride * ahead for ahead in range(count) for word in touched}
    return len(touched) * math.prod(count for _, count in loops[overlapping:])


def _sum_latency(nest: Nest, terms: int, machine: CgraMachine) -> int:
    opcode = FLOAT_OPERATIONS[nest.operation][-1]
    return terms * machine.latency(opcode)


def _chain(nest: Nest, terms: int, machine: CgraMachine) -> int:
    """Cycles from the last load of the longest path to the issue of the store."""
    latency = machine.latency
    if nest.transform is not None:
        return nest.transform.depth({opcode: latency(opcode) for opcode in nest.transform.opcodes})
    match nest.operation:
        case "multiply_add" | "dot":
            # The first product is as late as the word it is added to, or later.
            return latency("fmul") + terms * latency("fadd")
        case "max" | "sum":
            opcode = FLOAT_OPERATIONS[nest.operation][0]
            links = terms if nest.accumulated else terms - 1
            return links * latency(opcode) + (latency("fdiv") if nest.numbers else 0)
    return sum(latency(opcode) for opcode in FLOAT_OPERATIONS[nest.operation])


def _window_counts(nest: Nest, unroll: Mapping[str, int], machine: CgraMachine) -> Counts:
    assert nest.window is not None
    height, width, stride = nest.window
    filters, channels, positions = (unroll[name] for name in nest.names)
    kept = max(0, width - stride)
    columns = {x * stride + c for x in range(positions) for c in range(width)}
    fresh = len([column for column in columns if column >= kept])
    outputs, taps = filters * positions, height * width
    products = outputs * channels * taps
    step = positions * stride * height
    loaded = len({step, positions})
    latency = machine.latency
    # Of the last position's window, what earlier iterations loaded stands in front: it adds up before the load.
    handed_on = max(0, kept - (positions - 1) * stride) * height
    links = taps if handed_on == 0 else taps - handed_on + 1
    loaded_path = latency("fmul") + links * latency("fadd")
    return Counts(
        loads=fresh * height * channels + outputs,
        stores=outputs,
        pointers=loaded + 1,
        others=(("fmul", products), ("fadd", products)),
        live_ins=LiveIns(filters * channels * taps + channels * kept * height, 2),
        depth=max(latency("load") + 1 + loaded_path, latency("fmul") + taps * latency("fadd"))
        + (channels - 1) * latency("fadd"),
        recurrence=0,
    )
