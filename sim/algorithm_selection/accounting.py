"""What a control sequence takes, counted in its passes and walks, beside what the equations say of the selection.

Counted are the array's cycles (``array_cycles``, proven on the cycle-accurate array) and the words of every layout.
What the simulation has no part in, it takes over from the model: LT, the waste of short bursts, ovhd, what is read back
beside the array. Where both differ, the difference has a name:

- ``rounds_and_tiles``: Winograd runs ceil(K1/3)*ceil(K2/3) rounds over ceil(O1/m)*ceil(O2/m) tiles; Eq. 12 has K1*K2/9
  and tiles of the input.
- ``whole_rows``: kn2row's unit convolutions run over whole rows of the map (see ``gemm_call``), Eq. 11 over O1*O2.
- ``images``: images, and channels of an average pool, follow one another; Eq. 10 takes them as rows of one product.
- ``fill_and_drain``: I_SA of the array, once a layer, less the machine's.
- ``words``: Winograd's layouts hold whole tiles, once a round, less the (m+r-1)^2/m^2 of Table 2; strides read whole
  sub-maps.
- ``kernels``: the kernels that are loaded are not transformed yet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mapper.models.algorithm_selection.choice import Dataflow
from mapper.models.algorithm_selection.control.sequence import Control, ConvolutionStep
from mapper.models.algorithm_selection.control.walk import phase, rounds, tiles
from mapper.models.algorithm_selection.cost import SelectionCost, evaluate, moved_energy
from mapper.models.algorithm_selection.gemm_call import GemmCall
from mapper.models.algorithm_selection.layout import format_of, weight_words
from mapper.models.algorithm_selection.mapping import Selection, stored_format
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork
from mapper.sim.algorithm_selection.array.cycles import passes, step_cycles

TERMS = {
    "im2col": "images",
    "kn2row": "whole_rows",
    "winograd": "rounds_and_tiles",
    "winograd-4x4": "rounds_and_tiles",
}


@dataclass(frozen=True)
class Account:
    """``units`` of time counted, in the machine's units, and the named ``terms`` by which they exceed the model's;
    ``explained``: every layer's cycles are those of Eq. 9 for the sizes that the term of its algorithm says."""

    model: SelectionCost
    units: int
    terms: dict[str, int]
    layers: dict[str, tuple[int, int]]
    energy_pj: int
    explained: bool

    @property
    def adds_up(self) -> bool:
        return self.units == self.model.units + sum(self.terms.values())

    def cost_json(self) -> dict[str, Any]:
        """The cost keys of the kind."""
        machine = self.model.machine
        cycles = Fraction(self.units, machine.units_per_cycle)
        return {
            "cycles": math.ceil(cycles),
            "latency_ms": float(1000 * cycles / machine.clock_hz),
            "dsps": self.model.size.dsps,
            "energy_pj": self.energy_pj,
            "edp_pj_cycles": float(self.energy_pj * cycles),
        }


def account(
    overlay: OverlayNetwork, selection: Selection, control: Control, tensors: dict[int, tuple[str, ...]]
) -> Account:
    """Count ``control``, the sequence of ``selection``; ``tensors``: what each store is."""
    machine, model = overlay.machine, evaluate(overlay, selection)
    steps = {step.name: step for step in control.convolutions}
    terms = dict.fromkeys([*dict.fromkeys(TERMS.values()), "fill_and_drain", "words", "kernels", "hidden"], 0)
    units = model.store + model.read_back
    layers, moved, explained = {}, Fraction(0), True
    macs = clocked = 0
    for at, (layer, own) in enumerate(zip(overlay.layers, model.layers, strict=True)):
        step = steps[layer.name]
        products, once = step_cycles(step, control.array)
        layers[layer.name] = (products, once)
        explained = explained and products == expected(step, step.dataflow, control.array)
        terms[TERMS[step.algorithm]] += products * machine.units_per_cycle - own.compute
        terms["fill_and_drain"] += once * machine.units_per_cycle - own.initialise
        array = (products + once) * machine.units_per_cycle + own.transform
        reads = at in overlay.source and overlay.source[at] not in selection.on_chip
        words = input_words(step) if reads else 0
        kernels = layer.weights if machine.traffic.weights else 0
        load, weights = words * machine.units_per_word, kernels * machine.units_per_word
        formula = format_of(layer, step.algorithm).words(layer.in_channels) if reads else Fraction(0)
        transformed = weight_words(layer, step.algorithm, machine) if machine.traffic.weights else 0
        terms["words"] += load - int(formula * machine.units_per_word)
        terms["kernels"] += weights - int(transformed * machine.units_per_word)
        both = load + weights
        exposed = max(0, both - array) if machine.traffic.double_buffering else both
        terms["hidden"] += exposed - both
        terms["hidden"] += int((formula + transformed) * machine.units_per_word) - own.load - own.weights
        units += array + exposed
        moved += words + kernels
        macs += sum(call.a * call.b * call.c for call in step.calls) * step.shape.batch
        clocked += products + once
    for at, store in enumerate(overlay.stores):
        moved += sum(share.loaded for share in store.shares)
        if at in selection.on_chip:
            continue
        wanted = stored_format(overlay, at, selection.stores[at])
        assert wanted is not None
        channels = sum(share.channels for share in store.shares)
        held = control.region(tensors[at][0]).words if len(tensors[at]) == 1 else None
        for share in store.shares:
            formula = wanted.words(share.channels)
            counted = formula if held is None else Fraction(held * share.channels, channels)
            moved += counted
            more = int((counted - formula) * machine.units_per_word)
            terms["words"] += more
            units += more
    rule = machine.energy_pj
    energy = math.ceil(macs * Fraction(repr(rule.mac))) + moved_energy(moved, machine)
    energy += math.ceil(clocked * math.prod(control.array) * Fraction(repr(rule.pe_cycle)))
    return Account(model, units, terms, layers, energy, explained)


def input_words(step: ConvolutionStep) -> int:
    """Words that the data-load side brings into the Input Buffer for all images."""
    return step.walk.rows * step.walk.columns * step.shape.batch


def expected(step: ConvolutionStep, dataflow: Dataflow, array: tuple[int, int]) -> int:
    """Eq. 9 for the sizes that the module's text names, apart from the calls of the control sequence."""
    shape = step.shape
    depth, maps = shape.in_channels // shape.groups, shape.out_channels // shape.groups
    window = math.prod(shape.kernel)
    if step.algorithm == "im2col":
        sizes, times = (math.prod(shape.output_size), window * depth, maps), 1
    elif step.algorithm == "kn2row":
        rows, columns = phase(shape)
        sizes, times = (min(shape.output_size[0], rows) * columns, depth, maps), window
    else:
        sizes = (math.prod(tiles(shape, step.m)), depth, maps)
        times = math.prod(rounds(shape)) * (step.m + 2) ** 2
    count, length = passes(GemmCall(*sizes, 0, 0, 0, 0, 0, 0, False), dataflow, array)
    return count * length * times * shape.groups * shape.batch
