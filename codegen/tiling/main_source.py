"""``main.c`` of a generated nest: seeded tensors, the mapped nest and the reference, and how they compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mapper.codegen.tiling.nest_source import Program, Stored, tensors_of, words_of
from mapper.codegen.tiling.text import Writer, counted, indexed
from mapper.workloads.nest.loop_nest import LoopNest
from mapper.workloads.nest.tensor import INCREMENT, LEAST, MULTIPLIER, Tensor, first_state, tensors


@dataclass(frozen=True)
class _Part:
    """What the nest as written has of a tensor (``own``) as the program stores it, which is larger if it is padded."""

    own: Tensor
    stored: Stored

    @property
    def is_whole(self) -> bool:
        return self.own.shape == self.stored.tensor.shape

    @property
    def allocated(self) -> str:
        kind = f"tensor_{self.own.name}"
        return f"malloc(sizeof({kind}))" if self.is_whole else f"calloc(1, sizeof({kind}))"

    def open(self, writer: Writer) -> int:
        """Begin loops over the words of the part, in the order in which they lie; how many loops."""
        if self.is_whole:
            writer.open(f"for (size_t n = 0; n < {self.own.words}; n++)")
            return 1
        return writer.nested([counted(f"x_{axis}", size) for axis, size in enumerate(self.own.shape)])

    def word(self, pointer: str) -> str:
        """The word at which the loops are."""
        if self.is_whole:
            return f"(({self.stored.word} *){pointer})[n]"
        first = self.own.place_in(self.stored.tensor)
        return indexed(
            f"(*{pointer})", [f"x_{axis} + {at}" if at else f"x_{axis}" for axis, at in enumerate(first)]
        )


def main_source(tiles: Program, nest: LoopNest, seed: int, on_array: bool) -> str:
    """``main.c``, which fills the tensors and compares what the mapped nest and the reference make of them: in the
    part of them that ``nest`` as written has."""
    writer = Writer()
    stored = tensors_of(tiles)
    parts = {tensor.name: _Part(tensor, stored[tensor.name]) for tensor in tensors(nest)}
    written = tiles.buffers[tiles.written]
    result = written.tensor.name
    for header in ("<inttypes.h>", "<stdio.h>", "<stdlib.h>", "<string.h>"):
        writer.line(f"#include {header}")
    writer.line()
    writer.line('#include "nest.h"')
    writer.line()
    writer.line("static uint32_t state;")
    writer.line()
    writer.line(
        "/* Integers from a linear congruential generator: the upper four bits of each state, less 8. */"
    )
    writer.open("static int32_t drawn(void)")
    writer.line(f"state = state * {MULTIPLIER}u + {INCREMENT}u;")
    writer.line(f"return (int32_t)(state >> 28) - {-LEAST};")
    writer.close()
    writer.line()
    writer.open("int main(void)")
    for name in tensors_of(tiles):
        writer.line(f"tensor_{name} *dram_{name} = {parts[name].allocated};")
    copies = ["expected", "on_array"] if on_array else ["expected"]
    for copy in copies:
        writer.line(f"tensor_{result} *{copy} = malloc(sizeof(tensor_{result}));")
    missing = " || ".join(
        [*(f"!dram_{name}" for name in tensors_of(tiles)), *(f"!{copy}" for copy in copies)]
    )
    writer.open(f"if ({missing})")
    writer.line('fputs("out of memory\\n", stderr);')
    writer.line("return 1;")
    writer.close()
    for stream, name in enumerate(stored):
        writer.line(f"state = {first_state(seed, stream)}u;")
        count = parts[name].open(writer)
        writer.line(f"{parts[name].word(f'dram_{name}')} = drawn();")
        writer.close(count)
    if written.operand.is_updated and written.operand.zero_initialised:
        loops = [(loop, bound) for loop, bound in nest.bounds if loop in written.operand.loops]
        count = writer.nested([counted(f"i_{loop}", bound) for loop, bound in loops])
        writer.line(f"{words_of(tiles)[tiles.written]} = 0;")
        writer.close(count)
    for copy in copies:
        writer.line(f"memcpy({copy}, dram_{result}, sizeof(tensor_{result}));")
    writer.line(f"mapped_nest({', '.join(f'dram_{name}' for name in tensors_of(tiles))});")
    arguments = ", ".join("expected" if name == result else f"dram_{name}" for name in tensors_of(tiles))
    writer.line(f"reference_nest({arguments});")
    if on_array:
        arguments = ", ".join("on_array" if name == result else f"dram_{name}" for name in tensors_of(tiles))
        writer.line(f"array_nest({arguments});")
    writer.line("uint64_t checksum = 0;")
    _compare(writer, parts[result], f"dram_{result}", copies)
    writer.line('printf("checksum %016" PRIx64 " %s\\n", checksum, equal ? "OK" : "MISMATCH");')
    for name in tensors_of(tiles):
        writer.line(f"free(dram_{name});")
    for copy in copies:
        writer.line(f"free({copy});")
    writer.line("return equal ? 0 : 1;")
    writer.close()
    return writer.text()


def _compare(writer: Writer, part: _Part, result: str, copies: Sequence[str]) -> None:
    """Lines that set ``checksum`` and ``equal``."""
    kind = f"tensor_{part.own.name}"
    if part.is_whole:
        same = [f"memcmp(expected, {copy}, sizeof({kind})) == 0" for copy in (result, *copies[1:])]
    else:
        same = [f"{part.word('expected')} == {part.word(copy)}" for copy in (result, *copies[1:])]
        writer.line("uint64_t place = 0;")
        writer.line("int equal = 1;")
    count = part.open(writer)
    place = "(uint64_t)(n + 1)" if part.is_whole else "++place"
    writer.line(f"checksum += {place} * (uint64_t){part.word(result)};")
    if not part.is_whole:
        writer.line(f"equal = equal && {' && '.join(same)};")
    writer.close(count)
    if part.is_whole:
        writer.line(f"const int equal = {' && '.join(same)};")
