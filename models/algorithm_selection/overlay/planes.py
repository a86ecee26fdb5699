"""Which stored tensors may lie channel by channel on the generated overlay, so that its lanes are positions: those that
convolutions alone make and read. Pools, additions and transforms work on the channels of a position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mapper.arch.overlay import OverlayMachine
from mapper.models.algorithm_selection.overlay.layer import OverlayLayer
from mapper.models.algorithm_selection.overlay.lying import joined, lying, tensor_readers
from mapper.models.algorithm_selection.overlay.network import Store
from mapper.models.algorithm_selection.resource import most_banks
from mapper.workloads.network.network_layer import LayerNetwork


def with_planes(
    network: LayerNetwork, layers: Sequence[OverlayLayer], stores: Sequence[Store], machine: OverlayMachine
) -> tuple[Store, ...]:
    """The stores, each with whether it may."""
    if machine.engines is None:
        return tuple(stores)
    aliased, readers = joined(network), tensor_readers(network)
    lies = {name for name, shape in lying(network).items() if len(shape) == 4}
    return tuple(
        replace(
            store,
            planes=_suits(store, layers, machine) and _lies(network, store, layers, aliased, readers, lies),
        )
        for store in stores
    )


def _suits(store: Store, layers: Sequence[OverlayLayer], machine: OverlayMachine) -> bool:
    """Whether its format is a choice, and all who make and read it have an algorithm that can."""
    if not store.vertex or store.plain or store.whole or store.through:
        return False
    if not _fewer(store, most_banks(machine)):
        return False
    makers = [None if share.read or share.layer is None else layers[share.layer] for share in store.shares]
    channels = sum(share.channels for share in store.shares)
    for reader in (layers[at] for at in store.readers):
        whole = (reader.images, reader.elements, reader.in_channels) == (
            store.images,
            store.elements,
            channels,
        )
        if not whole or not any(map(reader.reads_planes, reader.algorithms(machine))):
            return False
    return all(one is not None and any(map(one.writes_planes, one.algorithms(machine))) for one in makers)


def _fewer(store: Store, most: int) -> bool:
    """Whether it takes fewer rows of lanes than position by position, on an overlay of at most so many lanes: the
    channels are fewer than those, or fill their last row less."""
    channels, lanes = sum(share.channels for share in store.shares), 2
    while lanes <= most:
        if channels * -(-store.elements // lanes) < store.elements * -(-channels // lanes):
            return True
        lanes *= 2
    return False


def _lies(
    network: LayerNetwork,
    store: Store,
    layers: Sequence[OverlayLayer],
    aliased: Mapping[str, tuple[str, int]],
    readers: Mapping[str, Sequence[str]],
    lies: set[str],
) -> bool:
    """Whether it is one tensor, whose parts lie in it and are read by nobody else."""
    names = {layers[at].name for at in store.readers}
    tensors = {network.layer(name).inputs[0].memory for name in names}
    if len(tensors) != 1:
        return False
    (tensor,) = tensors
    if tensor in aliased or tensor not in lies or {*readers[tensor]} != names:
        return False
    for share in store.shares:
        assert share.layer is not None
        part = network.layer(layers[share.layer].name).outputs[0][0]
        while part != tensor:
            if part not in aliased or len(readers[part]) != 1:
                return False
            part, _ = aliased[part]
    return True
