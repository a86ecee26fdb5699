"""Where tensors, weights, biases and instructions lie in the external memory, in words from the program's first."""

from __future__ import annotations

from mapper.arch.snowflake import WORD_BYTES, SnowflakeMachine
from mapper.models.trace_partition.isa.program import PlacedTensor, Segment, Words
from mapper.workloads.document import InputError

ALIGNMENT = 32
"""Everything starts at a multiple of so many words."""


class MemoryPlan:
    """Takes one place after another of a machine's memory."""

    def __init__(self, machine: SnowflakeMachine) -> None:
        self._machine = machine
        self._limit = machine.memory_bytes // WORD_BYTES
        self.words = 0
        self.tensors: list[PlacedTensor] = []
        self.segments: list[Segment] = []

    def take(self, words: int, what: str) -> int:
        """The first word of ``words`` for ``what``.

        Raises: InputError if the memory is full.
        """
        address = self.words
        self.words = address + -(-words // ALIGNMENT) * ALIGNMENT
        if self.words > self._limit:
            memory = f"memory_bytes {self._machine.memory_bytes}"
            raise InputError(
                self._machine.name, memory, f"does not hold the network: {what} lies beyond its end"
            )
        return address

    def tensor(self, name: str, words: int) -> int:
        """A place for a tensor of the network."""
        address = self.take(words, name)
        self.tensors.append(PlacedTensor(name, address, words))
        return address

    def segment(self, name: str, words: Words) -> int:
        """A place for constants."""
        address = self.take(len(words), name)
        self.segments.append(Segment(name, address, words))
        return address
