"""What an algorithm selection costs: cycles, energy and the overlay's size [Meng2021, sec. 5.1]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from mapper.arch.overlay import OverlayMachine
from mapper.models.algorithm_selection.choice import Algorithm
from mapper.models.algorithm_selection.layout import (
    Format,
    added_units,
    copied_units,
    format_of,
    store_units,
    tensor,
    weight_words,
)
from mapper.models.algorithm_selection.mapping import Selection, stored_format
from mapper.models.algorithm_selection.overlay.layer import OverlayLayer
from mapper.models.algorithm_selection.overlay.network import OverlayNetwork, Share, Store
from mapper.models.algorithm_selection.product import cycles, product, utilisation
from mapper.models.algorithm_selection.resource import OverlaySize, overlay_size
from mapper.models.algorithm_selection.running_cost import (
    RunningTime,
    one_after_another,
    pools_after,
)
from mapper.models.algorithm_selection.stream_time import one_array


@dataclass(frozen=True)
class LayerCost:
    """One layer: time by cause in units of the machine. ``load`` is what is not hidden behind the computation."""

    compute: int
    transform: int
    initialise: int
    load: int
    weights: int

    @property
    def array(self) -> int:
        """Time on the array, T of Eq. 14."""
        return self.compute + self.transform + self.initialise


@dataclass(frozen=True)
class SelectionCost:
    """``layers`` in order; ``store`` and ``read_back`` times of tensors, ``pools`` of max pools; words moved by
    operand; energy in whole picojoules, rounded up layer by layer and tensor by tensor."""

    machine: OverlayMachine
    array: tuple[int, int]
    layers: tuple[LayerCost, ...]
    store: int
    read_back: int
    pools: int
    words: Mapping[str, Fraction]
    energy_pj: int
    utilisation: tuple[float, ...]

    @property
    def units(self) -> int:
        """Latency of one inference in the machine's units, exactly."""
        layers = sum(layer.array + layer.load + layer.weights for layer in self.layers)
        return layers + self.store + self.read_back + self.pools

    @property
    def cycles(self) -> int:
        """Latency in cycles, rounded up."""
        return -(-self.units // self.machine.units_per_cycle)

    @property
    def size(self) -> OverlaySize:
        return overlay_size(self.array, self.machine)

    @property
    def edp(self) -> Fraction:
        """Energy times latency, picojoules and cycles."""
        return Fraction(self.energy_pj * self.units, self.machine.units_per_cycle)

    def cost_json(self) -> dict[str, Any]:
        """The cost keys of the kind."""
        seconds = Fraction(self.units, self.machine.units_per_cycle * self.machine.clock_hz)
        return {
            "cycles": self.cycles,
            "latency_ms": float(1000 * seconds),
            "dsps": self.size.dsps,
            "energy_pj": self.energy_pj,
            "edp_pj_cycles": float(self.edp),
        }

    def breakdown_json(self, network: OverlayNetwork) -> dict[str, Any]:
        """Cycles by cause, bytes by operand, and every layer's cycles on the array and utilisation (Eq. 14)."""
        causes = {
            "compute": sum(layer.compute for layer in self.layers),
            "transform": sum(layer.transform for layer in self.layers),
            "initialise": sum(layer.initialise for layer in self.layers),
            "load": sum(layer.load for layer in self.layers),
            "weights": sum(layer.weights for layer in self.layers),
            "store": self.store,
            "read_back": self.read_back,
        }
        if self.machine.engines is not None:
            causes["pools"] = self.pools
        unit = self.machine.units_per_cycle
        width = self.machine.word_bytes
        return {
            "cycles": _rounded(causes, unit),
            "bytes": {operand: math.ceil(words * width) for operand, words in self.words.items()},
            "layers": {
                name: {"cycles": -(-layer.array // unit), "utilisation": share}
                for name, layer, share in zip(network.names, self.layers, self.utilisation, strict=True)
            },
            "resources": self.size.to_json(),
        }


def _rounded(parts: Mapping[str, int], unit: int) -> dict[str, int]:
    """Whole cycles of each part that add up to those of the whole, rounded up."""
    found, so_far = {}, 0
    for cause, units in parts.items():
        found[cause] = -(-(so_far + units) // unit) - -(-so_far // unit)
        so_far += units
    return found


def evaluate(network: OverlayNetwork, selection: Selection) -> SelectionCost:
    """The cost of a selection, whether or not it keeps the rules (the referee says that).

    Raises: ValueError if a layer has no such algorithm or a tensor no such format.
    """
    machine = network.machine
    words = {"input": Fraction(0), "weights": Fraction(0), "output": Fraction(0), "read_back": Fraction(0)}
    energy, used, pools = 0, [], 0
    layers: list[LayerCost] = []
    timed = one_after_another(network, selection)
    for at, (layer, choice) in enumerate(zip(network.layers, selection.choices, strict=True)):
        if choice.algorithm not in layer.algorithms(machine):
            raise ValueError(f"{layer.name} has no algorithm {choice.algorithm}")
        taken = cycles(layer, choice.algorithm, choice.dataflow, selection.array, machine)
        compute, transform, initialise = (int(one * machine.units_per_cycle) for one in taken)
        read, kernels = _read_words(network, selection, at), weight_words(layer, choice.algorithm, machine)
        load = int(read * machine.units_per_word)
        weights = int(kernels * machine.units_per_word) if machine.traffic.weights else 0
        if machine.engines is not None:
            compute, initialise, load, weights, pool = _running(network, at, *next(timed), selection.array)
            if weights < 0:  # Its beginning hides so much of the store before, or of a pool.
                if at in network.running.beside or at in {first for first, *_ in network.running.resumed}:
                    pools += weights
                else:
                    layers[-1] = replace(layers[-1], load=layers[-1].load + weights)
                weights = 0
            pools, transform = pools + pool, 0
            taken = (Fraction(compute + initialise + load, machine.units_per_cycle), Fraction(0), Fraction(0))
        elif machine.traffic.double_buffering:
            exposed = max(0, load + weights - compute - transform - initialise)
            load, weights = max(0, exposed - weights), min(weights, exposed)
        layers.append(LayerCost(compute, transform, initialise, load, weights))
        words["input"] += read
        words["weights"] += kernels if machine.traffic.weights else 0
        used.append(utilisation(layer.macs, sum(taken, Fraction(0)), selection.array))
        energy += layer_energy(layer, choice.algorithm, sum(taken, Fraction(0)), selection.array, machine)
        energy += moved_energy(read, machine)
        energy += moved_energy(kernels, machine) if machine.traffic.weights else 0
    store = read_back = 0
    for at, tensor_stored in enumerate(network.stores):
        for share in tensor_stored.shares:
            moved = share_moved(network, selection, at, share)
            if machine.engines is None:
                read_back += moved.read_units
                store += moved.store_units
            words["read_back"] += moved.read
            words["output"] += moved.stored
            energy += moved.energy_pj(machine)
    return SelectionCost(
        machine, selection.array, tuple(layers), store, read_back, pools, words, energy, tuple(used)
    )


@dataclass(frozen=True)
class Moved:
    """A share of a tensor on its way: time of reading back and of storing in units of the machine, and words of each
    tensor read back (``apart``) and stored."""

    read_units: int
    store_units: int
    apart: tuple[int, ...]
    stored: Fraction

    @property
    def read(self) -> int:
        return sum(self.apart)

    def energy_pj(self, machine: OverlayMachine) -> int:
        """Energy in whole picojoules, rounded up tensor by tensor."""
        back = sum(moved_energy(Fraction(words), machine) for words in self.apart)
        return back + moved_energy(self.stored, machine)


def share_moved(network: OverlayNetwork, selection: Selection, at: int, share: Share) -> Moved:
    """What a share of store ``at`` takes; of what stays on the chip nothing is stored.

    Raises: ValueError if a tensor has no such format.
    """
    machine, written = network.machine, _format(network, selection, at)
    kept = at in selection.on_chip
    apart = tuple(one.words for one in share.read)
    stored = Fraction(0) if kept else written.words(share.channels)
    if share.copied is not None:
        one = share.copied
        held = _format(network, selection, one.store)
        units = copied_units(held, one.words, written, share.channels, one.beside, machine)
        lies = one.beside and held == written
        return Moved(*units, () if lies else apart, Fraction(0) if lies else stored)
    producer = None if share.layer is None else selection.choices[share.layer].algorithm
    spent = 0 if kept else store_units(written, share.channels, producer, machine)
    read = 0
    for one in share.read:
        held = tensor(1, 1) if one.through else _format(network, selection, one.store)
        if producer is None or one.through:
            read += one.words * machine.units_per_word
        else:
            read += added_units(held, one.words, producer, machine)
    return Moved(read, spent, apart, stored)


def _format(network: OverlayNetwork, selection: Selection, at: int) -> Format:
    found = stored_format(network, at, selection.stores[at])
    if found is None:
        raise ValueError(f"{network.stores[at].name} has no format {selection.stores[at]}")
    return found


def _running(
    network: OverlayNetwork, at: int, now: RunningTime, waits: int, array: tuple[int, int]
) -> tuple[int, int, int, int, int]:
    """Units of a layer on the overlay as it is generated: products, what the array adds, what movers add, kernels that
    it waits for (below 0: by which it begins before the layer before has stored), and max pools after it."""
    unit, own = network.machine.units_per_cycle, now.own
    products, added, total = (int(one[0]) for one in (own.products, own.array, own.total))
    pool = int(pools_after(network, at, one_array(array))[0])
    return products * unit, added * unit, (total - products - added) * unit, waits * unit, pool * unit


def _read_words(network: OverlayNetwork, selection: Selection, at: int) -> Fraction:
    """Words that a layer loads: none of the network's input, or of what stays on the chip."""
    source = network.source.get(at)
    if source is None or source in selection.on_chip:
        return Fraction(0)
    layer = network.layers[at]
    return format_of(layer, selection.choices[at].algorithm).words(layer.in_channels)


def layer_energy(
    layer: OverlayLayer,
    algorithm: Algorithm,
    taken: Fraction,
    array: tuple[int, int],
    machine: OverlayMachine,
) -> int:
    """Energy of a layer that takes so many cycles on the array, in whole picojoules, without what it moves."""
    rule = machine.energy_pj
    busy = product(layer, algorithm, machine).macs * Fraction(repr(rule.mac))
    clocked = taken * math.prod(array) * Fraction(repr(rule.pe_cycle))
    return math.ceil(busy) + math.ceil(clocked)


def moved_energy(words: Fraction, machine: OverlayMachine) -> int:
    """Energy of words to or from the external memory, in whole picojoules."""
    return math.ceil(words * machine.word_bytes * Fraction(repr(machine.energy_pj.dram_byte)))


def kept_bytes(
    network: OverlayNetwork, store: Store, share: Share, producer: Algorithm, reader: Algorithm
) -> int:
    """On-chip bytes that two consecutive layers take together if the tensor between them stays: the maps that go in,
    between and out, each in its layout, and both layers' kernels [Meng2021, sec. 5, step 5]."""
    machine = network.machine
    assert share.layer is not None
    first, second = network.layers[share.layer], network.layers[store.readers[0]]
    words = format_of(first, producer).words(first.in_channels)
    words += format_of(second, reader).words(second.in_channels)
    words += tensor(second.images, second.positions).words(second.out_channels)
    words += weight_words(first, producer, machine) + weight_words(second, reader, machine)
    return math.ceil(words * machine.word_bytes)
