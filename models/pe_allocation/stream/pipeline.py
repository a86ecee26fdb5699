"""How long results stay in the pipeline of a PE's units: the *drain* of a layer.

An iteration begins in every cycle of a position's work, and its operations follow one another as operands become ready
(``word.flow``). The last results of a position therefore leave the PEs some cycles after its time, and the layers that
read it find its pixels that much later. How many follows from the layer's operators and the latencies of units; the
numbers in it decide which of these operations it needs. All that they may ask for are counted, and a result that needs
fewer waits in its output register, so that it is handed on as many cycles after its position's time whatever the
numbers, units in use and idle cycles are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from mapper.arch.tcpa import TcpaMachine

if TYPE_CHECKING:
    from mapper.models.pe_allocation.stream.layer import StreamLayer

Stage = Literal["multiply", "add", "compare", "shift", "move", "table"]
"""An operation, by the name of its latency in a machine file."""

JOINS: dict[str, Stage] = {
    "Add": "add", "Sum": "add", "Mean": "add", "Sub": "add", "Mul": "multiply", "Max": "compare", "Min": "compare",
}  # fmt: skip
"""What brings two operands of an element-wise layer together."""
SCALES = frozenset({"BatchNormalization", "Mul", "Add", "Sub", "Div"})
"""Merged operators that multiply by constants or add some; any other but ``LIMITS`` is looked up in a table."""
LIMITS = frozenset({"Relu", "Clip"})
DIVISION: tuple[Stage, ...] = ("add", "multiply", "shift", "add")
"""From a sum to the average: so much that it is not negative, a product, a shift, and so much less."""
LIMITED: tuple[Stage, ...] = ("shift", "compare", "compare")
"""To the fraction of what is made, and within the limits of its words."""
AVERAGES = frozenset({"AveragePool", "GlobalAveragePool"})


def stages(layer: StreamLayer, units: int) -> tuple[Stage, ...]:
    """The operations from the issue of a position's last step to its last result, one after another, on PEs of so many
    ``units``."""
    if layer.operation == "convolution":
        # Scales and rounding are in the weights and in what a sum begins with.
        return ("multiply", *_times("add", min(layer.depth, units)), *LIMITED, *_table(layer.merged))
    if layer.operation == "pool" and layer.op in AVERAGES:
        return ("add", "shift", *DIVISION, *_ending(layer.merged))
    if layer.operation == "pool":
        return ("compare", *_clipped(layer.merged, ()))
    if layer.op in JOINS or (layer.depth > 1 and not layer.op):
        join = JOINS.get(layer.op, "add")
        own = layer.merged if layer.depth > 1 else (layer.op, *layer.merged)
        division = DIVISION if layer.op == "Mean" else ()
        return ("shift", *_times(join, min(layer.depth - 1, units)), *division, *_ending(own))
    return _clipped((layer.op, *layer.merged) if layer.op else layer.merged, ("move",))


def drain(layer: StreamLayer, machine: TcpaMachine) -> int:
    """Cycles from the end of a position's time until its last result can be read; the first of them is the work's."""
    return _drain(layer, getattr(machine.functional_units, layer.operation), _latencies(machine))


def drains(layers: Sequence[StreamLayer], machine: TcpaMachine, model: str) -> tuple[int, ...]:
    """The drain of every layer; by the paper's models units take no time."""
    if model != "streaming":
        return (0,) * len(layers)
    return tuple(drain(layer, machine) for layer in layers)


def _latencies(machine: TcpaMachine) -> tuple[tuple[Stage, int], ...]:
    latency = machine.processing_element.latency
    return (
        ("multiply", latency.multiply), ("add", latency.add), ("compare", latency.compare),
        ("shift", latency.shift), ("move", latency.move), ("table", latency.table),
    )  # fmt: skip


@lru_cache(maxsize=4096)
def _drain(layer: StreamLayer, units: int, latencies: tuple[tuple[Stage, int], ...]) -> int:
    cycles = dict(latencies)
    return sum(cycles[stage] for stage in stages(layer, units)) - 1


def _times(stage: Stage, count: int) -> tuple[Stage, ...]:
    return (stage,) * count


def _table(operators: Sequence[str]) -> tuple[Stage, ...]:
    return ("table",) if set(operators) - SCALES - LIMITS else ()


def _ending(operators: Sequence[str]) -> tuple[Stage, ...]:
    """After a rule whose numbers have another fraction than what is made: scaled or rounded, shifted, limited, looked
    up."""
    scaled: tuple[Stage, ...] = ("multiply", "add") if set(operators) & SCALES else ("add",)
    return (*scaled, *LIMITED, *_table(operators))


def _clipped(operators: Sequence[str], nothing: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """After a rule that hands on one of the words that it reads, of which only limits make another."""
    if set(operators) - LIMITS:
        return _ending(operators)
    return ("compare", "compare") if operators else nothing
