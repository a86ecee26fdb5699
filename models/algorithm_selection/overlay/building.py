"""From a network of layers to what the overlay runs: layers, edges, and the stores of branching layers and
concatenations [Meng2021, sec. 5.1]."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from mapper.arch.overlay import OverlayMachine
from mapper.models.algorithm_selection.overlay.layer import TILE, OverlayLayer, Pair
from mapper.models.algorithm_selection.overlay.lying import first_channel, lying
from mapper.models.algorithm_selection.overlay.network import (
    HostLayer,
    OverlayNetwork,
    ReadBack,
    Share,
    Store,
)
from mapper.models.algorithm_selection.overlay.on_the_way import pooled
from mapper.models.algorithm_selection.overlay.planes import with_planes
from mapper.models.algorithm_selection.overlay.running import Running, running
from mapper.workloads.document import InputError
from mapper.workloads.network.network_layer import LayerInput, LayerNetwork, NetworkLayer

REASONS = {
    "fully_connected": "runs elsewhere; layers.fully_connected: product puts it on the array",
    "average_pool": "is done alongside the stream; layers.average_pool: convolution puts it on the array",
    "max_pool": "is done by the pooling module alongside the stream",
    "batch_normalization": "scales elements on their way, which takes no time",
    "elementwise": "is done on elements on their way, which takes no time of its own",
    "concatenation": "is what its producers store side by side",
    "convolution": "reads maps of another shape than those that lie in DRAM",
}


@dataclass(frozen=True)
class _Stream:
    """Where a tensor is: on its way from the layers that compute it (``shares``), in a store (its number), possibly
    ``through`` something that changes it on the way from there; neither: it comes from outside and costs nothing."""

    shares: tuple[Share, ...] = ()
    store: int | None = None
    through: bool = False


@dataclass
class _Open:
    """A store that may still get readers."""

    name: str
    images: int
    elements: int
    shares: tuple[Share, ...]
    vertex: bool
    readers: list[int]
    through: list[int]
    plain: int = 0
    whole: bool = False

    def closed(self) -> Store:
        return Store(
            self.name,
            self.images,
            self.elements,
            self.shares,
            tuple(self.readers),
            tuple(self.through),
            self.plain,
            self.vertex,
            self.whole,
        )


def overlay_network(network: LayerNetwork, machine: OverlayMachine) -> OverlayNetwork:
    """What the overlay runs of ``network``.

    Raises: InputError if a layer has no form that the overlay can run, or none is left.
    """
    return _Builder(network, machine).network()


class _Builder:
    def __init__(self, network: LayerNetwork, machine: OverlayMachine) -> None:
        self.given, self.machine, self.lies = network, machine, lying(network)
        self.layers: list[OverlayLayer] = []
        self.stores: list[_Open] = []
        self.host: list[HostLayer] = []
        self.streams: dict[str, _Stream] = {}
        self.placed: set[int] = set()
        self.readers = self._living()
        self.beside = self._read_beside()

    def network(self) -> OverlayNetwork:
        for layer in self.given.layers:
            stream = self._stream(layer)
            if self.readers[layer.name] > 1 and (stream.shares or stream.through):
                stream = self._stored(layer, stream)
            self.streams[layer.name] = stream
        if not self.layers:
            raise InputError(
                self.given.name, "", "has no layer that the overlay runs; give a network with convolutions"
            )
        stores = tuple(store.closed() for store in self.stores)
        names = {layer.name: at for at, layer in enumerate(self.layers)}
        layers = self._pooled()
        way = frozenset(layer.pooled.name for layer in layers if layer.pooled is not None)
        stores = with_planes(self.given, layers, stores, self.machine)
        return OverlayNetwork(
            self.given.name,
            self.machine,
            layers,
            stores,
            tuple(self.host),
            running(self.given, names, way) if self.machine.engines is not None else Running(),
        )

    def _pooled(self) -> tuple[OverlayLayer, ...]:
        """Layers with the max pools that take their results on the way: of those that Winograd, which makes results
        tile by tile, cannot compute, and that fit the buffers as they would without."""
        engines = self.machine.engines
        if engines is None or not (engines.pools and engines.pools_on_the_way):
            return tuple(self.layers)
        found, layers = pooled(self.given), []
        for layer in self.layers:
            known, other = layer.algorithms(self.machine), replace(layer, pooled=found.get(layer.name))
            raster = TILE.keys().isdisjoint(known) and other.algorithms(self.machine) == known
            layers.append(other if raster else layer)
        return tuple(layers)

    def _living(self) -> dict[str, int]:
        """How many layers read each layer's result on the way to one that runs on the array."""
        alive: set[str] = set()
        for layer in reversed(self.given.layers):
            if self._runs(layer) or layer.name in alive:
                alive.update(layer.feeds)
        counted = {layer.name: 0 for layer in self.given.layers}
        for layer in self.given.layers:
            if self._runs(layer) or layer.name in alive:
                for feed in layer.feeds:
                    counted[feed] += 1
        return counted

    def _read_beside(self) -> frozenset[str]:
        """Tensors that are results of the network, or read by layers that no layer of the array reads from: this costs
        nothing, yet it takes all of the tensor."""
        ending = [
            layer for layer in self.given.layers if not self._runs(layer) and not self.readers[layer.name]
        ]
        read = [one.memory for layer in ending for one in layer.inputs]
        return frozenset((*read, *(one.memory for one in self.given.outputs)))

    def _runs(self, layer: NetworkLayer) -> bool:
        rule = self.machine.layers
        if layer.work == "fully_connected":
            return rule.fully_connected == "product"
        if layer.work == "average_pool":
            return rule.average_pool == "convolution"
        if layer.work in ("transposed_convolution", "matrix_product"):
            raise InputError(
                self.given.name, layer.name, f"is a {layer.op}, which the overlay has no algorithm for"
            )
        apart = self.machine.engines is not None and first_channel(layer.inputs[0], self.lies) is None
        return layer.work == "convolution" and not apart

    def _stream(self, layer: NetworkLayer) -> _Stream:
        if self._runs(layer):
            return self._computed(layer)
        self.host.append(HostLayer(layer.name, layer.op, _reason(layer), layer.macs))
        if not self.readers[layer.name]:
            return _Stream()
        inputs = list({one.layer: one for one in layer.inputs if one.layer is not None}.values())
        if layer.work == "concatenation":
            return self._joined(layer)
        if len(inputs) > 1:
            return self._combined(layer, inputs)
        if not inputs or layer.work == "fully_connected":
            return _Stream()
        stream = self._of(inputs[0])
        return replace(stream, through=stream.store is not None)

    def _of(self, one: LayerInput) -> _Stream:
        return _Stream() if one.layer is None else self.streams[one.layer]

    def _computed(self, layer: NetworkLayer) -> _Stream:
        """A layer of the array: it reads an edge or a store, and its result is on its way."""
        at, one = len(self.layers), layer.inputs[0]
        self.layers.append(overlay_layer(layer))
        stream, whole = self._of(one), one.memory in self.beside
        if stream.shares:
            assert one.layer is not None
            single = len(stream.shares) == 1 and stream.shares[0].layer is not None
            # The format of an edge is its reader's, which may lack positions.
            lacking = whole and self.layers[at].positions_read is not None
            stream = self._store(one.layer, one.shape, stream, vertex=not single or lacking)
        if stream.store is not None:
            self.stores[stream.store].whole |= whole
            self.stores[stream.store].readers.append(at)
            if stream.through:
                self.stores[stream.store].through.append(at)
        return _Stream((Share(at, self.layers[at].out_channels),))

    def _joined(self, layer: NetworkLayer) -> _Stream:
        """A concatenation: every producer has its share; what is stored already is read back."""
        shares: list[Share] = []
        for one in layer.inputs:
            stream = self._of(one)
            if stream.shares:
                shares += stream.shares
            else:
                shares.append(Share(None, one.shape[1], self._read_back(stream, joins=True)))
        return _Stream(tuple(shares))

    def _combined(self, layer: NetworkLayer, inputs: list[LayerInput]) -> _Stream:
        """An addition or the like: the operand computed last meets the others, which are read back, on its way."""
        streams = [self._of(one) for one in inputs]
        moving = [at for at, stream in enumerate(streams) if stream.shares]
        last = max(moving, key=lambda at: _latest(streams[at]), default=None)
        read: tuple[ReadBack, ...] = ()
        for at, (one, stream) in enumerate(zip(inputs, streams, strict=True)):
            if at != last:
                assert one.layer is not None
                stored = self._store(one.layer, one.shape, stream, vertex=True) if stream.shares else stream
                read += self._read_back(stored)
        if last is None:
            return _Stream((Share(None, layer.output_shape[1], read),))
        first, *rest = streams[last].shares
        return _Stream((replace(first, read=first.read + read), *rest))

    def _read_back(self, stream: _Stream, joins: bool = False) -> tuple[ReadBack, ...]:
        """A stored tensor, noted as read once more; the first concatenation it ``joins`` may hold it."""
        if stream.store is None:
            return ()
        store = self.stores[stream.store]
        words = store.images * store.elements * sum(share.channels for share in store.shares)
        store.plain += words
        beside = joins and not stream.through and stream.store not in self.placed
        self.placed |= {stream.store} if beside else set()
        return (ReadBack(stream.store, words, stream.through, beside),)

    def _stored(self, layer: NetworkLayer, stream: _Stream) -> _Stream:
        """A tensor that several layers read; one changed on the way from a store is a store of its own."""
        if stream.through:
            stream = _Stream((Share(None, layer.output_shape[1], self._read_back(stream)),))
        return self._store(layer.name, layer.output_shape, stream, vertex=True)

    def _store(self, name: str, shape: tuple[int, ...], stream: _Stream, vertex: bool) -> _Stream:
        single = stream.shares[0].layer if len(stream.shares) == 1 else None
        if single is not None:
            name = self.layers[single].name
        # A product reads its tensor flattened; it is stored with the channels that its producers have.
        elements = -(-math.prod(shape[1:]) // sum(share.channels for share in stream.shares))
        self.stores.append(_Open(name, shape[0], elements, stream.shares, vertex, [], []))
        return _Stream(store=len(self.stores) - 1)


def overlay_layer(layer: NetworkLayer) -> OverlayLayer:
    """A convolution, average pool or fully connected layer as the overlay runs it.

    Raises: InputError if it is not two-dimensional.
    """
    if layer.work == "fully_connected":
        rows, depth, columns = layer.matrix
        one = (1, 1)
        return OverlayLayer(
            layer.name, layer.source, layer.op, rows, depth, columns, one, one, one, fully_connected=True
        )
    shape, window = layer.inputs[0].shape, layer.window
    if len(shape) != 4:
        raise InputError(layer.name, layer.op, f"has {len(shape) - 2} axes; the overlay runs two")
    kernel, strides, dilations = map(_pair, (window.kernel, window.strides, window.dilations))
    return OverlayLayer(
        layer.name,
        layer.source,
        layer.op,
        shape[0],
        shape[1],
        layer.output_shape[1],
        _pair(shape[2:]),
        _pair(layer.output_shape[2:]),
        kernel,
        strides,
        (window.pads[0], window.pads[1]),
        dilations,
        window.groups,
        layer.work == "average_pool",
    )


def _pair(values: tuple[int, ...]) -> Pair:
    return values[0], values[1]


def _latest(stream: _Stream) -> int:
    return max((share.layer for share in stream.shares if share.layer is not None), default=-1)


def _reason(layer: NetworkLayer) -> str:
    return REASONS.get(layer.work, "is done alongside the stream, which takes no time")
