"""The external memory of one accelerator, with a program in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from mapper.arch.snowflake import INSTRUCTION_BYTES, WORD_BYTES, SnowflakeMachine
from mapper.models.trace_partition.isa.program import Program, Words
from mapper.models.trace_partition.lowering.layer import TensorView
from mapper.workloads.document import InputError

INSTRUCTION_WORDS = INSTRUCTION_BYTES // WORD_BYTES


class Memory(Mapping[str, Words]):
    """The ``words`` that a program occupies, from its base on: code and segments in place, all else 0. As a mapping:
    the words of each tensor, which may be written."""

    def __init__(self, program: Program, machine: SnowflakeMachine) -> None:
        """Raises: InputError if the program does not fit the machine's memory, or something in it the program."""
        source = f"program {program.name}"
        if WORD_BYTES * (program.base + program.words) > machine.memory_bytes:
            have = f"{machine.name} has {machine.memory_bytes} bytes"
            raise InputError(
                source, "words", f"ends beyond the memory; {have}; compile it for a larger memory"
            )
        self.base, self._source = program.base, source
        self.words: Words = np.zeros(program.words, np.int16)
        for segment in program.segments:
            self._place(segment.name, segment.address, len(segment.words))[:] = segment.words
        for number, cluster in enumerate(program.clusters):
            place = self._place(
                f"code of cluster {number}", cluster.address, INSTRUCTION_WORDS * len(cluster.code)
            )
            place[:] = cluster.code.astype("<u4").view("<i2")
        self._tensors = {t.name: self._place(t.name, t.address, t.words) for t in program.tensors}

    def _place(self, name: str, address: int, words: int) -> Words:
        if address < 0 or words < 0 or address + words > len(self.words):
            raise InputError(
                self._source, name, f"lies beyond the program's {len(self.words)} words; compile it again"
            )
        return self.words[address : address + words]

    def __getitem__(self, tensor: str) -> Words:
        return self._tensors[tensor]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def view(self, view: TensorView) -> Words:
        """What a view shows, [height][width][channels]; writing to it writes to memory.

        Raises: InputError if the view does not lie within its tensor.
        """
        words = self._tensors.get(view.tensor)
        if words is None:
            raise InputError(self._source, view.tensor, "is not a tensor of the program; compile it again")
        numbers = (view.height, view.width, view.channels, view.pitch, view.offset)
        end = view.offset + (view.height * view.width - 1) * view.pitch + view.channels
        if min(numbers) < 0 or end > len(words):
            raise InputError(
                self._source, view.tensor, f"a view ends beyond its {len(words)} words; compile it again"
            )
        row = view.width * view.pitch
        strides = tuple(WORD_BYTES * step for step in (row, view.pitch, 1))
        shape = (view.height, view.width, view.channels)
        shown: npt.NDArray[np.int16] = np.lib.stride_tricks.as_strided(words[view.offset :], shape, strides)
        return shown
