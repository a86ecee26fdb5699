"""A simulated algorithm selection beside what the model says of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mapper.formulations.algorithm_selection.problem import SelectionProblem
from mapper.models.algorithm_selection.control.selection import selection_control, stored_tensors
from mapper.models.algorithm_selection.control.sequence import Control, ConvolutionStep
from mapper.models.algorithm_selection.gemm_call import GemmCall
from mapper.models.algorithm_selection.mapping import Selection
from mapper.models.algorithm_selection.number.network_number import NetworkNumbers
from mapper.sim.algorithm_selection.accounting import Account, account
from mapper.sim.algorithm_selection.array.cycles import array_cycles, narrow_stall, passes
from mapper.sim.algorithm_selection.array.systolic import run
from mapper.sim.algorithm_selection.buffer import most_reads
from mapper.sim.algorithm_selection.network import Drawn, Overlay, Tensors, drawn, reference
from mapper.sim.algorithm_selection.onnx_convolution import integer_convolution
from mapper.workloads.network.network_layer import LayerNetwork

NOTES = (
    "convolutions: integers of 8 bits, sums compared with onnxruntime's ConvInteger bit for bit, requantised alike",
    "Winograd: kernels transformed by 2G (24G in F(4,3)) on both sides, results divided by 4 (576), exactly",
    "both buffers have max(P1, P2) banks: IS reads P1 words of the weights at once, more than P2 banks give if P1 > P2",
    "blocks are preloaded over wires as wide as a pass is shorter than the array is high; narrow_preload_stall is what "
    "one word a column and cycle would cost",
    "pools, LRN, softmax, concatenations and elements run alongside the array and take no time, as in the model",
)


def report(
    problem: SelectionProblem,
    selection: Selection,
    network: LayerNetwork,
    seed: int = 0,
    data: Drawn | None = None,
) -> dict[str, Any]:
    """What ``mapper simulate`` says of a selection for ``network``, of which the problem's overlay was made: seeded
    integers through the control sequence, and its cycles and words.

    ``agrees``: the sums of every layer equal onnxruntime's of the same input (else it is ``physical.wrong``) and all
    tensors the reference's, no layer misses a position in a stored layout, the cycle-accurate
    array takes the counted cycles, and the simulated cycles are the model's and the named terms (``physical.terms``,
    see ``accounting``) to the unit.

    Raises: InputError if a layer has no form in integers here, or an algorithm cannot compute one.
    """
    overlay = problem.network
    control = selection_control(network, overlay, selection)
    counted = account(overlay, selection, control, stored_tensors(network, overlay))
    data = data or drawn(network, seed)
    error, lost, wrong, results = compared(network, control, data.numbers, data.inputs)
    shown = cycle_accurate(control, seed)
    exact = all(one["cycles"] == one["counted"] and one["products_equal"] for one in shown)
    return {
        "outputs_equal": error == 0 and not wrong,
        "max_error": error,
        "results": results,
        "cost_simulated": counted.cost_json(),
        "agrees": error == 0 and not lost and not wrong and exact and counted.adds_up and counted.explained,
        "physical": {**_physical(control, counted, shown), "lost": lost, "wrong": wrong},
        "notes": list(NOTES),
    }


def compared(
    network: LayerNetwork, control: Control, numbers: NetworkNumbers, inputs: Tensors
) -> tuple[float, list[str], list[str], Tensors]:
    """Integers through a control sequence: the largest error of a tensor, the layers that miss a position in a stored
    layout, and those whose sums differ from onnxruntime's of the same input.

    Raises: InputError if a layer has no form in integers here.
    """
    work = Overlay(network, control, numbers, inputs)
    lost, wrong = [], []
    for done in work.run():
        if done.lost:
            lost.append(done.step.name)
        kernels, zero = numbers.layers[done.step.name].kernels, numbers.zero(done.step.input)
        if not np.array_equal(done.sums, integer_convolution(done.step.shape, done.data, kernels, zero)):
            wrong.append(done.step.name)
    wanted = reference(network, numbers, inputs)
    errors = {
        name: float(np.abs(work.results[name].astype(np.float64) - one.astype(np.float64)).max(initial=0))
        for name, one in wanted.items()
    }
    return max(errors.values()), lost, wrong, work.results


def cycle_accurate(control: Control, seed: int) -> list[dict[str, Any]]:
    """The first passes of one layer of each dataflow, that with the shortest passes, on the array with all its
    registers: two passes in either direction, which show every wire, both edges and the change from pass to pass."""
    shortest: dict[str, ConvolutionStep] = {}
    for step in sorted(control.convolutions, key=lambda step: _length(step, control)):
        shortest.setdefault(step.dataflow, step)
    return [_shown(step, control, seed) for step in shortest.values()]


def _length(step: ConvolutionStep, control: Control) -> int:
    return passes(step.calls[0], step.dataflow, control.array)[1]


def _shown(step: ConvolutionStep, control: Control, seed: int) -> dict[str, Any]:
    call, (rows, columns) = step.calls[0], control.array
    most = {
        "NS": (2 * rows, call.b, 2 * columns),
        "WS": (call.a, 2 * rows, 2 * columns),
        "IS": (2 * columns, 2 * rows, call.c),
    }[step.dataflow]
    a, b, c = (min(size, limit) for size, limit in zip((call.a, call.b, call.c), most, strict=True))
    part = GemmCall(a, b, c, 0, 0, 0, 0, 0, 0, False)
    random = np.random.default_rng(seed)
    matrix, weights = random.integers(-128, 128, (a, b)), random.integers(-128, 128, (b, c))
    done = run([part], step.dataflow, control.array, matrix, weights, control.banks)
    return {
        "layer": step.name,
        "dataflow": step.dataflow,
        "product": [a, b, c],
        "passes": passes(part, step.dataflow, control.array)[0],
        "cycles": done.cycles,
        "counted": array_cycles([part], step.dataflow, control.array),
        "products_equal": bool(np.array_equal(done.products[0], matrix @ weights)) and done.late == 0,
        "most_reads_of_a_bank": list(done.reads),
        "widest_wires": max(done.widest),
    }


def _physical(control: Control, counted: Account, shown: list[dict[str, Any]]) -> dict[str, Any]:
    """Cycles by layer and by named term; ``terms`` are cycles by which the simulation exceeds the model."""
    unit = counted.model.machine.units_per_cycle
    array = control.array
    layers = {}
    for step, own in zip(control.convolutions, counted.model.layers, strict=True):
        products, once = counted.layers[step.name]
        layers[step.name] = {
            "algorithm": step.algorithm,
            "dataflow": step.dataflow,
            "calls": len(step.calls) * step.shape.batch,
            "model": own.compute / unit,
            "products": products,
            "fill_and_drain": once,
            "narrow_preload_stall": narrow_stall(step, array),
        }
    return {
        "terms": {name: units / unit for name, units in counted.terms.items() if units},
        "narrow_preload_stall": sum(narrow_stall(step, array) for step in control.convolutions),
        "layers": layers,
        "cycle_accurate": shown,
        "banks": {
            "banks": control.banks,
            "most_reads": {
                flow: list(most_reads(flow, array, (control.banks,) * 2)) for flow in ("NS", "WS", "IS")
            },
            "most_reads_with_p1_and_p2_banks": {
                flow: list(most_reads(flow, array, array)) for flow in ("NS", "WS", "IS")
            },
        },
    }
