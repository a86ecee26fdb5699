"""A network as the overlay runs it: layers, and the tensors that travel between them [Meng2021, sec. 5.1]."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from mapper.arch.overlay import OverlayMachine
from mapper.models.algorithm_selection.layout import Format, format_of, planes, tensor
from mapper.models.algorithm_selection.overlay.layer import OverlayLayer
from mapper.models.algorithm_selection.overlay.running import Running
from mapper.models.algorithm_selection.overlay.staying import staying
from mapper.workloads.document import InputError


@dataclass(frozen=True)
class ReadBack:
    """A stored tensor, by position, that is read once more on its way into another: ``words`` of it, once each.
    ``through``: changed on the way, as by a pool, for which it comes in the plain layout. ``beside``: it is a part of a
    concatenation and of no other, so that it may lie in that, where both have one format."""

    store: int
    words: int
    through: bool = False
    beside: bool = False


@dataclass(frozen=True)
class Share:
    """What one producer stores of a tensor: so many channels. ``layer`` is the position of the layer that computes
    them, None where all are of other tensors. ``read``: those are read back, and added to what the layer computes
    (none and no layer: the network's input)."""

    layer: int | None
    channels: int
    read: tuple[ReadBack, ...] = ()

    @property
    def loaded(self) -> int:
        """Words read back."""
        return sum(one.words for one in self.read)

    @property
    def copied(self) -> ReadBack | None:
        """The one tensor that is stored again as it is, if that is so."""
        single = self.layer is None and len(self.read) == 1 and not self.read[0].through
        return self.read[0] if single else None


@dataclass(frozen=True)
class Store:
    """A tensor in the external memory. ``readers`` are positions of layers that read it. ``plain``: words that are read
    in the plain layout beside them, by what is no layer. ``through``: of the readers, those after a pool or the like,
    which reads the plain layout. A tensor with one share of a layer and one reader is an edge of the cost graph;
    ``vertex`` says that it is a vertex instead. ``whole``: all of it is read by what costs nothing, too, so that no
    format may lack a position. ``planes``: on the generated overlay it may lie channel by channel."""

    name: str
    images: int
    elements: int
    shares: tuple[Share, ...]
    readers: tuple[int, ...]
    through: tuple[int, ...] = ()
    plain: int = 0
    vertex: bool = True
    whole: bool = False
    planes: bool = False


@dataclass(frozen=True)
class HostLayer:
    """A layer that takes none of the overlay's time."""

    name: str
    op: str
    reason: str
    macs: int


@dataclass(frozen=True)
class OverlayNetwork:
    """``layers`` in the order in which they run; ``stores`` in the order in which they are complete."""

    name: str
    machine: OverlayMachine
    layers: tuple[OverlayLayer, ...]
    stores: tuple[Store, ...]
    host: tuple[HostLayer, ...] = field(default=())
    running: Running = field(default=Running())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(layer.name for layer in self.layers)

    @cached_property
    def position(self) -> dict[str, int]:
        """Positions of the layers by name."""
        return {name: at for at, name in enumerate(self.names)}

    @cached_property
    def source(self) -> dict[int, int]:
        """The store that each layer reads, by position; layers that read the network's input are left out."""
        return {reader: at for at, store in enumerate(self.stores) for reader in store.readers}

    @cached_property
    def sink(self) -> dict[int, int]:
        """The store, by position, that each layer makes a part of; layers whose results are not stored are left out."""
        shares = ((share.layer, at) for at, store in enumerate(self.stores) for share in store.shares)
        return {layer: at for layer, at in shares if layer is not None}

    @cached_property
    def staying(self) -> dict[int, frozenset[int]]:
        """The stores, by position, whose maps stay on the chip, by the banks of its buffers, where any can."""
        engines = self.machine.engines
        room = 0 if engines is None or engines.buffers is None else engines.buffers.tensor
        matrices = {}
        for at in self.running.direct if room else ():
            store = self.stores[self.source[at]]
            matrices[at] = (store.images * store.elements, sum(share.channels for share in store.shares))
        banks = [1 << power for power in range(1, 18)]
        found = {one: staying(matrices, matrices, room // one, one) for one in banks if matrices}
        return {one: frozenset(self.source[at] for at in kept) for one, kept in found.items()}

    @cached_property
    def formats(self) -> tuple[tuple[Format, ...], ...]:
        """In what formats each store can be: those of its readers' algorithms, in the order of the readers."""
        return tuple(self._formats(store) for store in self.stores)

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """Names of the formats of each store: the layout, with the first reader it suits where that is ambiguous."""
        found = []
        for store, formats in zip(self.stores, self.formats, strict=True):
            layouts = [one.layout for one in formats]
            found.append(
                tuple(
                    one.layout
                    if layouts.count(one.layout) == 1
                    else f"{one.layout}@{self._first_reader(store, one)}"
                    for one in formats
                )
            )
        return tuple(found)

    def layer(self, name: str) -> OverlayLayer:
        """The layer called ``name``.

        Raises: InputError if the overlay runs none of that name.
        """
        if name not in self.position:
            named = ", ".join(self.names[:3])
            raise InputError(self.name, name[:40], f"is not a layer of the overlay; there are {named}, ...")
        return self.layers[self.position[name]]

    def _formats(self, store: Store) -> tuple[Format, ...]:
        """A strided Toeplitz matrix may lack positions; it is a format of a store only if no reader needs those."""
        found: dict[Format, None] = {}
        if self.machine.engines is not None:
            plain = tensor(store.images, store.elements)
            return (plain, planes(store.images, store.elements)) if store.planes else (plain,)
        needs = [self._needs(store, reader) for reader in store.readers]
        if store.plain or store.whole:
            needs.append(None)
        for reader in store.readers:
            layer = self.layers[reader]
            for algorithm in layer.algorithms(self.machine):
                wanted = format_of(layer, algorithm)
                if wanted.layout == "tensor3d" or reader in store.through:
                    wanted = tensor(store.images, store.elements)
                if wanted.layout != "toeplitz" or all(_holds(layer.positions_read, need) for need in needs):
                    found[wanted] = None
        if store.plain or not found:
            found[tensor(store.images, store.elements)] = None
        return tuple(found)

    def _needs(self, store: Store, reader: int) -> tuple[frozenset[int], frozenset[int]] | None:
        """The rows and columns of a store that a reader needs, None for all."""
        return None if reader in store.through else self.layers[reader].positions_read

    def _first_reader(self, store: Store, wanted: Format) -> str:
        for reader in store.readers:
            layer = self.layers[reader]
            if wanted in [format_of(layer, algorithm) for algorithm in layer.algorithms(self.machine)]:
                return layer.name
        raise AssertionError("every format but the plain one has a reader")


def _holds(
    held: tuple[frozenset[int], frozenset[int]] | None, need: tuple[frozenset[int], frozenset[int]] | None
) -> bool:
    """Whether the rows and columns held are all that are needed; None stands for all."""
    if held is None or need is None:
        return held is None
    return all(one >= other for one, other in zip(held, need, strict=True))
