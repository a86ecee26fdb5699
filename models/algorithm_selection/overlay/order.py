"""In which order the generated overlay runs the layers of a network."""

from __future__ import annotations

from dataclasses import replace

from mapper.arch.overlay import OverlayMachine
from mapper.models.algorithm_selection.overlay.lying import is_joined, joined
from mapper.models.algorithm_selection.overlay.running import pools
from mapper.models.algorithm_selection.overlay.separate import separated
from mapper.workloads.network.network_layer import LayerNetwork


def ordered(network: LayerNetwork, machine: OverlayMachine) -> LayerNetwork:
    """The network with each max pool of a convolution's or a concatenation's maps as soon as these are there, where the
    machine runs pools first: layers of other branches begin beside it. All else keeps the order of the file, as what
    follows a pool or a stop of the overlay has no layer before it whose products hide its kernels. Activations without
    a unit are layers of their own."""
    engines = machine.engines
    if engines is None:
        return network
    network = separated(network)
    if not (engines.pools and engines.pools_first):
        return network
    layers, aliased = list(network.layers), joined(network)
    for pool in filter(pools, network.layers):
        at, read = layers.index(pool), {one.memory for one in pool.inputs}
        made = [place for place, one in enumerate(layers[:at]) if read & {name for name, _ in one.outputs}]
        if not made:
            continue
        source = layers[made[-1]]
        if source.work != "convolution" and not is_joined(source, aliased):
            continue
        first = made[-1] + 1
        while first < at and pools(layers[first]):  # Pools of the same maps keep their order.
            first += 1
        layers.insert(first, layers.pop(at))
    return replace(network, layers=tuple(layers))
