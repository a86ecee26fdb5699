"""A layer's steps as instructions: loads of the next step, waits, compute, store [Chang2018, sec. 4]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mapper.codegen.trace_partition.compute_code import compute_code
from mapper.codegen.trace_partition.register import Piece, RegisterFile
from mapper.codegen.trace_partition.transfer_code import transfer_code
from mapper.models.trace_partition.isa.instruction import Instruction, Operation, Queue
from mapper.models.trace_partition.steps.step import Load, Step, Transfer

SYNC = Piece((Instruction(Operation.SYNC),))


class ClusterWriter:
    """Writes the code of one cluster, layer after layer.

    Loads and stores are counted as they are requested: transfers of a kind end in order, so that all up to a certain
    one have ended when no more are unfinished than were requested after it.
    """

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self._registers = RegisterFile(self._emit)
        self._computing = False
        self._loads = self._loads_awaited = 0
        self._stores = self._stores_awaited = 0
        self._stored: dict[int, int] = {}

    def layer(self, steps: Iterable[Step], places: Mapping[str, int]) -> None:
        """The steps of a layer; ``places``: first word of every tensor that their transfers name."""
        self._stored = {}
        following = iter(steps)
        step = next(following, None)
        if step is not None:
            self._load(step.loads, places)
        while step is not None:
            needed = self._loads
            later = next(following, None)
            if later is not None:
                self._load(later.loads, places)
            self._await_loads(needed)
            if step.store is not None and step.store.buffer in self._stored:
                self._await_stores(self._stored[step.store.buffer])
            for computed in step.compute:
                self._computing = True
                compute_code(computed, self._registers, self._emit)
            if step.store is not None:
                self._transfer(step.store.transfers, True, places)
                self._stores += len(step.store.transfers)
                self._stored[step.store.buffer] = self._stores
            step = later
        self._await_vectors()
        self._await_stores(self._stores)

    def synchronise(self) -> None:
        """Every cluster comes to this place."""
        self._emit(SYNC)

    def call(self, number: int) -> None:
        """The host runs its operation ``number``; nothing is under way in the meantime."""
        self._emit(Piece((Instruction(Operation.HALT, immediate=number),)))

    def taken(self) -> list[Piece]:
        """The code since this was last asked for."""
        pieces, self._pieces = self._pieces, []
        return pieces

    def _emit(self, piece: Piece) -> None:
        self._pieces.append(piece)

    def _load(self, loads: tuple[Load, ...], places: Mapping[str, int]) -> None:
        for load in loads:
            self._transfer(load.transfers, False, places)
            self._loads += len(load.transfers)

    def _transfer(self, transfers: tuple[Transfer, ...], store: bool, places: Mapping[str, int]) -> None:
        """Transfers wait for the vector unit: they read its results, or write where it reads."""
        if transfers:
            self._await_vectors()
            transfer_code(transfers, store, places, self._registers, self._emit)

    def _await_vectors(self) -> None:
        if self._computing:
            self._emit(_wait(Queue.VECTOR, 0))
            self._computing = False

    def _await_loads(self, needed: int) -> None:
        if needed > self._loads_awaited:
            self._emit(_wait(Queue.LOAD, self._loads - needed))
            self._loads_awaited = needed

    def _await_stores(self, needed: int) -> None:
        if needed > self._stores_awaited:
            self._emit(_wait(Queue.STORE, self._stores - needed))
            self._stores_awaited = needed


def _wait(queue: Queue, number: int) -> Piece:
    return Piece((Instruction(Operation.WAIT, queue, immediate=number),))
